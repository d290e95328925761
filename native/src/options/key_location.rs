//! Places where keys are stored, as options and arguments name them.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use portaborg_core::key::KeyLocation;

/// Takes `repokey` and `keyfile`.
pub fn key_location() -> impl TypedValueParser<Value = KeyLocation> {
    let locations = [KeyLocation::Repokey, KeyLocation::Keyfile];
    PossibleValuesParser::new(locations.map(KeyLocation::name)).map(move |name| {
        let named = locations.into_iter().find(|location| location.name() == name);
        named.expect("only these are possible")
    })
}
