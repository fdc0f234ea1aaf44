"""Turns a built `backstory` into what people install: an archive, a wheel, npm packages, a .deb and an .rpm."""
