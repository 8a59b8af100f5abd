# Makes an R function a simulator for Counterpoise. Needs nothing but R; copy it beside your script.
#
#     source("counterpoise.R")
#
#     simulate <- function(theta, seed) {     # a list of parameters; set.seed(seed) has been called
#       ...
#       c(mean = 1.5, max = 3.0)              # statistics by name, or in their order
#     }
#
#     serve(simulate, c("mean", "max"))

# Answers requests until there are no more. An error of `simulate` is a failed simulation, and no more.
serve <- function(simulate, statistics) {
  # Answers get the standard output for themselves: whatever else is printed goes to the standard error.
  answers <- file("/dev/stdout", "w")
  sink(stderr())
  say <- function(...) {
    cat(..., "\n", file = answers, sep = "")
    flush(answers)
  }
  text <- function(value) {
    plain <- gsub("[[:cntrl:]]", " ", value)
    paste0("\"", gsub("([\"\\\\])", "\\\\\\1", plain), "\"")
  }
  say("{\"ready\": true, \"statistics\": [", paste(text(statistics), collapse = ", "), "]}")
  requests <- file("stdin", "r")
  while (length(line <- readLines(requests, n = 1)) > 0) {
    request <- read_request(line)
    tryCatch({
      set.seed(request$seed)
      values <- unlist(simulate(request$parameters, request$seed))
      if (!is.null(names(values))) values <- values[statistics]
      say("{\"id\": ", request$id, ", \"statistics\": [", paste(sprintf("%.17g", values), collapse = ", "), "]}")
    }, error = function(error) {
      reason <- conditionMessage(error)
      message("error: ", reason)
      say("{\"id\": ", request$id, ", \"error\": ", text(reason), "}")
    })
  }
}

# A request is {"id": 7, "seed": 1234567, "parameters": {"k": 0.1, "sigma": 2}}: too plain to need a package.
read_request <- function(line) {
  inner <- sub("^.*\"parameters\": *\\{(.*)\\}\\}.*$", "\\1", line)
  pair <- "\"((?:[^\"\\\\]|\\\\.)*)\": *([-+.0-9eE]+)"
  pairs <- regmatches(inner, gregexpr(pair, inner, perl = TRUE))[[1]]
  parameters <- as.list(as.numeric(sub(pair, "\\2", pairs, perl = TRUE)))
  names(parameters) <- sub(pair, "\\1", pairs, perl = TRUE)
  list(
    id = sub("^.*?\"id\": *([0-9]+).*$", "\\1", line, perl = TRUE),
    seed = as.integer(sub("^.*?\"seed\": *([0-9]+).*$", "\\1", line, perl = TRUE)),
    parameters = parameters
  )
}
