//! Which paths of an archive are meant (data layer, section 14).
