//! What a worker keeps between payloads.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;

/// One worker's decoder states, made when first needed and used again for every later payload. Nothing in it affects a
/// result; two workers never share one.
#[derive(Default)]
pub struct Scratch {
    slots: Vec<Box<dyn Any + Send>>,
}

impl Scratch {
    /// This worker's `T`: an engine keeps each kind of state under a type of its own.
    pub fn slot<T: Any + Send + Default>(&mut self) -> &mut T {
        // Few types exist, so a search beats a map.
        let index = self.slots.iter().position(|slot| slot.is::<T>()).unwrap_or_else(|| {
            self.slots.push(Box::new(T::default()));
            self.slots.len() - 1
        });
        self.slots[index].downcast_mut().expect("the slot was chosen by its type")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_its_own_slot() {
        let mut scratch = Scratch::default();
        *scratch.slot::<u32>() = 7;
        *scratch.slot::<u64>() = 8;
        assert_eq!(*scratch.slot::<u32>(), 7);
        assert_eq!(*scratch.slot::<u64>(), 8);
        assert_eq!(*scratch.slot::<u8>(), 0);
    }
}
