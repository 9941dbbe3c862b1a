"""Encoders, decoders, critics: modules that take modules."""
