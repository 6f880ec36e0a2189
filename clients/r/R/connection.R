# A connection: where the server is, and who asks.

# Keys are kept here and never in a connection, so that neither str() nor a workspace saved to a file holds one. Each
# belongs to one address; the name of a connection is of this session only.
.keys <- new.env(parent = emptyenv())

inb_connect <- function(url, key = Sys.getenv("INBOUNDS_KEY"), patience = 60) {
  url <- check_url(url)
  key <- check_key(key)
  patience <- check_number(patience, "patience", "the seconds to try again for, such as 60", least = 0)
  name <- paste(url, basename(tempdir()), length(ls(.keys, all.names = TRUE)) + 1)
  assign(name, key, envir = .keys)
  memory <- new.env(parent = emptyenv()) # what is learnt while asking, and how to wait
  memory$reached <- FALSE
  memory$sleep <- Sys.sleep
  structure(list(url = url, patience = patience, name = name, memory = memory), class = "inb_connection")
}

# Returns the address without a slash at its end. Without TLS only this machine is asked.
check_url <- function(url) {
  parts <- if (is_text(url)) regmatches(url, regexec("^(https?)://([^/?#@\\\\[:space:]]+)(/[^?#\\\\[:space:]]*)?$", url))[[1]]
  if (length(parts) == 0) {
    refuse("a server address must be a URL; write it like 'https://inbounds.hospital.example'")
  }
  host <- sub(":[0-9]*$", "", parts[3])
  if (parts[2] == "http" && !is_this_machine(host)) {
    refuse(sprintf("an API key must not be sent unencrypted to '%s'; use https://", host))
  }
  sub("/+$", "", url)
}

is_this_machine <- function(host) {
  grepl("^(localhost|127(\\.(25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})){3}|\\[::1\\])$", host)
}

check_key <- function(key) {
  key <- if (is_text(key)) trimws(key) else ""
  if (!grepl("^[ -~]+$", key, useBytes = TRUE)) {
    refuse("a server needs an API key; give one as key, or set INBOUNDS_KEY")
  }
  key
}

# Returns the key of a connection; one that comes from a saved workspace has none.
key_of <- function(connection) {
  key <- get0(connection$name, envir = .keys, inherits = FALSE)
  if (is.null(key)) {
    refuse("this connection is of another R session, and keys are not saved; call inb_connect() again")
  }
  key
}

check_connection <- function(connection) {
  if (!inherits(connection, "inb_connection")) {
    refuse("a connection is needed first; make one with inb_connect()")
  }
}

format.inb_connection <- function(x, ...) paste0("<inbounds connection to ", x$url, ">")

print.inb_connection <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}
