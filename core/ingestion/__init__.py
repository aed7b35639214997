"""From a file to pages, clean text, tables and fragments. One pipeline for public and private documents."""
