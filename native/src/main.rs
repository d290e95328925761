#[allow(dead_code)]
mod restore;
#[cfg(test)]
mod engine;

fn main() {}
