"""What everything runs on: compiler options, kernel cache, threads, progress, files, checks of arguments."""
