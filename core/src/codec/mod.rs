//! Compression: payload bytes to plaintext, with hard output limits (data layer, section 6).
