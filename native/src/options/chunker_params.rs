//! `--chunker-params`: how content is cut (data layer, section 3.1).

use portaborg_core::chunk::{ChunkerParams, ChunkerParamsError};
use std::str::FromStr;

/// The word for what would apply without the option.
const DEFAULT: &str = "default";

/// What is asked for.
#[derive(Debug, Clone)]
pub enum ChosenChunkerParams {
    /// What applies where nothing is asked for.
    Default,
    /// These.
    Given(ChunkerParams),
}

impl ChosenChunkerParams {
    /// The parameters, if they are given themselves.
    pub fn given(&self) -> Option<&ChunkerParams> {
        match self {
            ChosenChunkerParams::Default => None,
            ChosenChunkerParams::Given(params) => Some(params),
        }
    }
}

impl FromStr for ChosenChunkerParams {
    type Err = ChunkerParamsError;

    fn from_str(text: &str) -> Result<Self, ChunkerParamsError> {
        if text.eq_ignore_ascii_case(DEFAULT) {
            return Ok(ChosenChunkerParams::Default);
        }
        text.parse().map(ChosenChunkerParams::Given)
    }
}
