#[allow(dead_code)]
mod display;
#[allow(dead_code)]
mod format;
#[allow(dead_code)]
mod json;
#[allow(dead_code)]
mod log;
#[allow(dead_code)]
mod progress;
#[allow(dead_code)]
mod prompt;

fn main() {}
