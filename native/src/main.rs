mod restore;

fn main() {}
