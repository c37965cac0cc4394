# What sdcMicro makes of the table: a simple global recoding, then local suppression with its defaults.
#
#   Rscript sdcmicro_peer.R TRAIN.csv TEST.csv OUT.csv MASKED.csv FOLDER K ATTRIBUTE...
#
# FOLDER holds the hierarchy of each attribute, ATTRIBUTE.levels. Every attribute goes half of the way up, unless that
# would leave one label only: with ages in tens and raw values otherwise, 30,000 rows were not done after 3 minutes of
# CPU. The test rows are recoded alike.

suppressPackageStartupMessages(library(sdcMicro))

read_rows <- function(file) {
  read.csv(file, check.names = FALSE, colClasses = "character", na.strings = character(), encoding = "UTF-8")
}

recode <- function(rows, folder, attributes) {
  for (attribute in attributes) {
    file <- file.path(folder, paste0(attribute, ".levels"))
    paths <- read.table(file, sep = ";", quote = "", comment.char = "", colClasses = "character", encoding = "UTF-8")
    level <- if (ncol(paths) > 2) ncol(paths) %/% 2 + 1 else 1
    rows[[attribute]] <- paths[[level]][match(rows[[attribute]], paths[[1]])]
  }
  rows
}

write_rows <- function(rows, file) {
  write.csv(rows, file, row.names = FALSE, fileEncoding = "UTF-8")
}

arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[5]
attributes <- arguments[-(1:6)]
rows <- recode(read_rows(arguments[1]), folder, attributes)
# sdcMicro builds expressions out of names, so they must be plain.
keys <- as.data.frame(lapply(rows[attributes], factor))
names(keys) <- paste0("key", seq_along(keys))
suppressed <- kAnon(keys, keyVars = names(keys), k = as.integer(arguments[6]))$xAnon
for (place in seq_along(attributes)) {
  labels <- as.character(suppressed[[place]])
  rows[[attributes[place]]] <- ifelse(is.na(labels), "\u22a5", labels)
}
write_rows(rows, arguments[3])
write_rows(recode(read_rows(arguments[2]), folder, attributes), arguments[4])
