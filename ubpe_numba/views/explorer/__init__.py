"""The explorer: a report of a vocabulary and of encoded documents, in one HTML file that needs no network.

Python counts and packs (this folder), the page looks up, draws and sorts (`page/`).
"""
