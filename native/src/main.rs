#[cfg(test)]
mod engine;

fn main() {}
