//! SHAKE-256 (FIPS 202), by which the vectors name their input data.

use serde_json::Value;

const RATE_BYTES: usize = 136;

/// The first `len` bytes of SHAKE-256 of a short label.
pub fn shake256(label: &str, len: usize) -> Vec<u8> {
    assert!(label.len() < RATE_BYTES);
    let mut block = [0; RATE_BYTES];
    block[..label.len()].copy_from_slice(label.as_bytes());
    block[label.len()] ^= 0x1f;
    block[RATE_BYTES - 1] ^= 0x80;
    let mut state = [0; 25];
    for (lane, bytes) in state.iter_mut().zip(block.chunks_exact(8)) {
        *lane = u64::from_le_bytes(bytes.try_into().unwrap());
    }
    let mut out = Vec::with_capacity(len + RATE_BYTES);
    while out.len() < len {
        permute(&mut state);
        state[..RATE_BYTES / 8].iter().for_each(|lane| out.extend_from_slice(&lane.to_le_bytes()));
    }
    out.truncate(len);
    out
}

/// Data by the vectors' recipe: segments of SHAKE-256 output, of one byte, or of a repeated block.
pub fn recipe(segments: &Value) -> Vec<u8> {
    let mut data = Vec::new();
    for segment in segments.as_array().unwrap() {
        let len = segment["len"].as_u64().unwrap() as usize;
        match (segment["shake256"].as_str(), segment["byte"].as_u64(), segment["cycle"].as_str()) {
            (Some(label), None, None) => data.extend(shake256(label, len)),
            (None, Some(byte), None) => data.extend(std::iter::repeat_n(byte as u8, len)),
            (None, None, Some(label)) => {
                let block = shake256(label, segment["block"].as_u64().unwrap() as usize);
                data.extend(block.iter().cycle().take(len));
            }
            _ => panic!("unknown segment {segment}"),
        }
    }
    data
}

fn permute(a: &mut [u64; 25]) {
    let mut lfsr = 1u8;
    for _ in 0..24 {
        let mut c = [0; 5];
        for x in 0..5 {
            c[x] = (0..5).fold(0, |sum, y| sum ^ a[x + 5 * y]);
        }
        for x in 0..5 {
            let d = c[(x + 4) % 5] ^ c[(x + 1) % 5].rotate_left(1);
            (0..5).for_each(|y| a[x + 5 * y] ^= d);
        }
        let (mut x, mut y, mut last) = (1, 0, a[1]);
        for t in 0..24 {
            (x, y) = (y, (2 * x + 3 * y) % 5);
            let lane = std::mem::replace(&mut a[x + 5 * y], last.rotate_left((t + 1) * (t + 2) / 2 % 64));
            last = lane;
        }
        for y in 0..5 {
            let row: [u64; 5] = a[5 * y..5 * y + 5].try_into().unwrap();
            (0..5).for_each(|x| a[x + 5 * y] = row[x] ^ (!row[(x + 1) % 5] & row[(x + 2) % 5]));
        }
        for j in 0..7 {
            if lfsr & 1 == 1 {
                a[0] ^= 1 << ((1u32 << j) - 1);
            }
            lfsr = lfsr << 1 ^ if lfsr & 0x80 != 0 { 0x71 } else { 0 };
        }
    }
}
