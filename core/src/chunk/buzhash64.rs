//! Table of `buzhash64`: every bit is set in half of the entries, which the key chooses (data layer, section 3.5).

use super::stream::{Stream, Table};
use alloc::boxed::Box;
use core::array;
use zeroize::Zeroizing;

/// The table that a stream gives.
pub(super) fn table(stream: &mut Stream) -> Table<u64> {
    let mut table = Box::new(Zeroizing::new([0; 256]));
    for bit in 0..u64::BITS {
        let mut order: Zeroizing<[u8; 256]> = Zeroizing::new(array::from_fn(|at| at as u8));
        stream.shuffle(&mut *order);
        order[..128].iter().for_each(|&at| table[usize::from(at)] |= 1 << bit);
    }
    table
}
