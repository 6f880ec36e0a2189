# What is given by hand, checked: texts, switches, and numbers that are sent as exact decimals.

is_text <- function(x) is.character(x) && length(x) == 1 && !is.na(x)

check_text <- function(x, name, example) {
  if (!is_text(x) || !nzchar(trimws(x))) {
    refuse(sprintf("%s must be a text, such as %s", name, example))
  }
  enc2utf8(x)
}

check_switch <- function(x, name) {
  if (!is.logical(x) || length(x) != 1 || is.na(x)) {
    refuse(sprintf("%s must be TRUE or FALSE", name))
  }
  x
}

check_number <- function(x, name, meaning, least = -Inf) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x < least) {
    refuse(sprintf("%s must be %s", name, meaning))
  }
  x
}

# Returns a number as a decimal, written in one way however it was given: 0.5, "0.50" and "5e-1" are "0.5".
write_decimal <- function(x, name) {
  text <- if (is.numeric(x) && length(x) == 1) shortest_decimal(x) else if (is_text(x)) trimws(x) else ""
  pattern <- "^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]{1,4}))?$"
  parts <- regmatches(text, regexec(pattern, text, perl = TRUE))[[1]]
  if (length(parts) == 0 || !nzchar(paste0(parts[3], parts[4]))) {
    refuse(sprintf("%s must be a finite decimal number; write it like 2 or 0.5", name))
  }
  power <- if (nzchar(parts[5])) as.integer(parts[5]) else 0L
  digits <- sub("^0+", "", paste0(parts[3], parts[4]))
  power <- power - nchar(parts[4]) + nchar(digits) - nchar(sub("0+$", "", digits))
  digits <- sub("0+$", "", digits)
  if (!nzchar(digits)) {
    return("0")
  }
  paste0(if (parts[2] == "-") "-", place_point(digits, power))
}

# Returns digits * 10^power, with an exponent only where the zeros would be many.
place_point <- function(digits, power) {
  if (power > 20 || power < -40) {
    return(paste0(digits, "e", power))
  }
  if (power >= 0) {
    return(paste0(digits, strrep("0", power)))
  }
  padded <- paste0(strrep("0", max(0, 1 - power - nchar(digits))), digits)
  whole <- nchar(padded) + power
  paste0(substr(padded, 1, whole), ".", substr(padded, whole + 1, nchar(padded)))
}

# Returns the shortest decimal that is read as this number again.
shortest_decimal <- function(x) {
  texts <- sprintf(c("%.15g", "%.16g", "%.17g"), as.double(x))
  same <- vapply(texts, function(text) identical(suppressWarnings(as.double(text)), as.double(x)), NA)
  texts[c(which(same), 3L)[1]]
}

# Returns an exact amount of epsilon as a number; one that does not end as a decimal is sent as a quotient.
read_amount <- function(text) {
  if (is.null(text)) {
    return(NA_real_)
  }
  parts <- as.double(strsplit(as.character(text), "/", fixed = TRUE)[[1]])
  if (length(parts) == 2) parts[1] / parts[2] else parts[1]
}
