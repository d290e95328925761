#[allow(dead_code)]
mod restore;

fn main() {}
