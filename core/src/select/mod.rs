//! Which archives of a repository are meant (data layer, section 15).
