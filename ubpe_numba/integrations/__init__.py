"""The library inside other people's libraries, a file a package, which is imported only when it is used."""
