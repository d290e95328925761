//! Vectors of 128 bits: WebAssembly's own, and where tests run, bytes.

use core::ops::{BitAnd, BitXor};

#[cfg(target_arch = "wasm32")]
use core::arch::wasm32::{i8x16_shuffle, i64x2_shl, u64x2, u64x2_extract_lane, u64x2_shr, v128, v128_and, v128_xor};

/// 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Vector(Inner);

#[cfg(target_arch = "wasm32")]
type Inner = v128;
#[cfg(not(target_arch = "wasm32"))]
type Inner = u128;

/// Moves bytes: the place that each of the 16 comes from.
macro_rules! shuffle {
    ($vector:expr, $($from:literal)*) => {{
        #[cfg(target_arch = "wasm32")]
        let moved = i8x16_shuffle::<$($from),*>($vector.0, $vector.0);
        #[cfg(not(target_arch = "wasm32"))]
        let moved = u128::from_le_bytes([$($vector.0.to_le_bytes()[$from]),*]);
        Vector(moved)
    }};
}

impl Vector {
    pub(super) const ZERO: Self = Self::of(0);
    pub(super) const ONES: Self = Self::of(0xff);

    /// The same byte everywhere.
    #[inline(always)]
    pub(super) const fn of(byte: u8) -> Self {
        #[cfg(target_arch = "wasm32")]
        return Vector(core::arch::wasm32::u8x16(
            byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte, byte,
        ));
        #[cfg(not(target_arch = "wasm32"))]
        Vector(u128::from_le_bytes([byte; 16]))
    }

    #[inline(always)]
    pub(super) fn from_bytes(bytes: [u8; 16]) -> Self {
        let bits = u128::from_le_bytes(bytes);
        #[cfg(target_arch = "wasm32")]
        let bits = u64x2(bits as u64, (bits >> 64) as u64);
        Vector(bits)
    }

    #[inline(always)]
    pub(super) fn to_bytes(self) -> [u8; 16] {
        #[cfg(target_arch = "wasm32")]
        let bits = u128::from(u64x2_extract_lane::<0>(self.0)) | u128::from(u64x2_extract_lane::<1>(self.0)) << 64;
        #[cfg(not(target_arch = "wasm32"))]
        let bits = self.0;
        bits.to_le_bytes()
    }

    /// All bits so many places higher. Where they leave a byte, they are of no use.
    #[inline(always)]
    pub(super) fn up<const BITS: u32>(self) -> Self {
        #[cfg(target_arch = "wasm32")]
        return Vector(i64x2_shl(self.0, BITS));
        #[cfg(not(target_arch = "wasm32"))]
        Vector(self.0 << BITS)
    }

    /// All bits so many places lower. Where they leave a byte, they are of no use.
    #[inline(always)]
    pub(super) fn down<const BITS: u32>(self) -> Self {
        #[cfg(target_arch = "wasm32")]
        return Vector(u64x2_shr(self.0, BITS));
        #[cfg(not(target_arch = "wasm32"))]
        Vector(self.0 >> BITS)
    }

    /// ShiftRows (FIPS 197, section 5.1.2). Columns come one after another.
    #[inline(always)]
    pub(super) fn shift_rows(self) -> Self {
        shuffle!(self, 0 5 10 15 4 9 14 3 8 13 2 7 12 1 6 11)
    }

    /// InvShiftRows.
    #[inline(always)]
    pub(super) fn unshift_rows(self) -> Self {
        shuffle!(self, 0 13 10 7 4 1 14 11 8 5 2 15 12 9 6 3)
    }

    /// In each column, at each row what is in the next one.
    #[inline(always)]
    pub(super) fn next_row(self) -> Self {
        shuffle!(self, 1 2 3 0 5 6 7 4 9 10 11 8 13 14 15 12)
    }

    /// In each column, at each row what is in the one after the next.
    #[inline(always)]
    pub(super) fn row_after_next(self) -> Self {
        shuffle!(self, 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13)
    }
}

impl BitXor for Vector {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        #[cfg(target_arch = "wasm32")]
        return Vector(v128_xor(self.0, other.0));
        #[cfg(not(target_arch = "wasm32"))]
        Vector(self.0 ^ other.0)
    }
}

impl BitAnd for Vector {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        #[cfg(target_arch = "wasm32")]
        return Vector(v128_and(self.0, other.0));
        #[cfg(not(target_arch = "wasm32"))]
        Vector(self.0 & other.0)
    }
}
