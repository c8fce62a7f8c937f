"""Used by all other wings: compiler options, kernel cache, threads, progress, files, checks of arguments."""
