"""Extensions of Sphinx that make this site: pages of names, pictures, math, command lines, plain text."""
