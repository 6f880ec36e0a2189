library(testthat)
library(inbounds)

test_check("inbounds")
