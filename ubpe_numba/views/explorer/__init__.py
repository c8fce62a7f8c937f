"""The explorer: a report of a vocabulary and of what it does to documents, in one HTML file that needs no network.

Python counts and packs (this folder), the page looks up, draws and sorts (`page/`).
"""
