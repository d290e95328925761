//! Reading and writing msgpack as Borg does (data layer, section 7).
