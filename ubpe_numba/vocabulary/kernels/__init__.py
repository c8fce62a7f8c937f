"""Compiled kernels that build vocabularies and find special words."""
