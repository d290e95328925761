//! Facts of speed: changing one breaks nothing. Sizes are compared with these numbers here and nowhere else.
//!
//! Two levels of parallelism never stack. While every thread has a chunk of its own, helpers inside a chunk would only fight
//! with the others; they are for the time when fewer chunks are ready than threads are idle: the last chunks, a file of one
//! chunk, a pack's hash. So whoever asks for helpers tells how many threads are *idle*: without work, and not the one that
//! asks. Only `BORG_ZSTD_MT_WORKERS` turns it around: then every large chunk has so many threads, and fewer chunks are worked
//! on at once.
//!
//! Measured with `create` on two processors, and text in one file of 300 MiB, in 256 files of 1 MiB, and in 10,000 small files, at
//! the levels -4, 3 and 9. Forced to both levels at once, two chunks with two workers each, large files take 1.03 to 1.21 times
//! as long at the lower levels and 1.3 to 1.4 times at level 9, for up to 37 % more processor time; small files don't care.
//! With two workers inside each chunk and no second chunk beside it, everything takes 1.5 to 2.1 times as long: chunks side by
//! side have the better use for a thread, because nothing waits at a chunk's end. One file of two chunks is as fast either way.

/// Numbers that decide how work is done, never what is read or restored. (libzstd's payloads differ with its workers; their
/// plaintexts don't.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Threads that may work at once: the processors that the program may use, at least 1.
    pub threads: usize,
    /// How much of a pack is read at once, in bytes, where its objects are wanted one after another.
    ///
    /// Restoring 50,000 files of 1.5 KB takes 170 reads so, instead of one for each file.
    pub read_ahead_bytes: usize,
    /// From how many bytes on several threads may hash one input with BLAKE3 (`BORG_BLAKE3_MT_THRESHOLD`, in KiB).
    ///
    /// Starting them costs tens of microseconds, as much as one thread takes for 100 KiB; and the tree of a length that is
    /// no power of two is split unevenly. 256 KiB was the smallest size that never lost on 12 cores (command
    /// line, section 6.4).
    pub blake3_threads_from_bytes: usize,
    /// From how many bytes on several threads may compress one chunk with zstd: where it becomes more than one job and a
    /// half, so that a second worker has something to do.
    pub zstd_workers_from_bytes: usize,
    /// What one of libzstd's workers compresses on its own, in bytes. By default it would be four times the window, more than
    /// any chunk, and there would be no second job. 512 KiB is the least that libzstd takes.
    ///
    /// libzstd silently raises it to the overlap.
    pub zstd_job_bytes: usize,
    /// How much of its window a job takes over from the one before it, as libzstd counts it: 9 for all of it, 8 for a half, 7 for
    /// a quarter. A quarter has 128 KiB up to level 2, 512 KiB up to level 8 and 1 MiB above, where jobs are as long, too.
    ///
    /// By default it would be an eighth up to level 5, and a half from level 16 on, where jobs would have 2 MiB. Measured with
    /// 8 MiB of a program, which become longer by so many percent than with one thread: 0.11 instead of 0.42 at level -4, 0.64
    /// instead of 1.0 at level 3, for about a tenth more processor time; 0.7 to 1.4 at levels 5 to 16.
    pub zstd_overlap_log: u32,
    /// Workers for each chunk that is large enough (`BORG_ZSTD_MT_WORKERS`); 0 and 1 are for none. If it isn't set, idle
    /// threads are taken.
    pub zstd_workers: Option<usize>,
    /// Threads that authenticate, decompress and verify chunks (`BORG_EXTRACT_WORKERS`); 0 and 1 are for working serially.
    /// If it isn't set, as many as there are, and no more than four.
    pub extract_workers: Option<usize>,
    /// Threads that read, hash, compress and seal what goes into an archive (`BORG_CREATE_WORKERS`); 0 and 1 are for working
    /// serially. If it isn't set, as many as there are.
    pub create_workers: Option<usize>,
    /// What may be read and not sealed while an archive is made, in bytes of plaintext. Two packs come on top of it: one that
    /// is filled, and one that is stored.
    ///
    /// 32 MiB are two parts of a large file, or what a dozen threads read of small ones.
    pub create_bytes: usize,
    /// From how many bytes on what is read at once is decrypted by an asynchronous block cipher, where a face has one beside its
    /// own: Web Crypto.
    ///
    /// A call of it costs up to 55 microseconds, and the bytes go there and back; software takes as long for 8 KiB.
    pub webcrypto_from_bytes: usize,
    /// From how many bytes on a payload goes there, together with others that were read at once.
    pub webcrypto_part_bytes: usize,
    /// From how many bytes on what is read at once is given to a helper that shares no memory, where a face has such ones: workers
    /// in browsers and in Node.
    ///
    /// A message costs about 20 microseconds each way, and wakes a thread.
    pub errand_from_bytes: usize,
    /// How many chunks may be in flight for each thread that works on them: one in work, and one ready for it.
    pub look_ahead_per_worker: usize,
    /// What the chunks in flight may take together, in bytes of the longer of plaintext and object. One chunk is let in
    /// whatever its size.
    ///
    /// 64 MiB are eight of the longest chunks of the default chunker: the look-ahead of four workers.
    pub window_bytes: usize,
}

/// What one piece of work may have besides the thread that does it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Help {
    /// By which it is decided.
    pub tuning: Tuning,
    /// How many threads have nothing to do, besides the one that asks.
    pub idle: usize,
}

impl Help {
    /// None at all.
    pub const NONE: Help = Help { tuning: Tuning::new(1), idle: 0 };
}

/// No more than so many workers for one chunk, and for extraction: most chunks have 2 to 4 MiB, and storage is rarely faster.
const MAX_WORKERS: usize = 4;

/// The highest level of zstd at which a chunk is worth splitting. From 19 on a job takes over the whole window of the one
/// before, so chunks up to 8 MiB would be one job, compressed by a worker while its caller waits.
const LAST_SPLIT_LEVEL: i32 = 18;

impl Default for Tuning {
    fn default() -> Self {
        Tuning::new(1)
    }
}

impl Tuning {
    /// What nobody has asked to be different, for so many `threads`.
    pub const fn new(threads: usize) -> Self {
        Tuning {
            threads: if threads == 0 { 1 } else { threads },
            read_ahead_bytes: 1 << 20,
            blake3_threads_from_bytes: 256 << 10,
            zstd_workers_from_bytes: 768 << 10,
            zstd_job_bytes: 512 << 10,
            zstd_overlap_log: 7,
            zstd_workers: None,
            extract_workers: None,
            create_workers: None,
            create_bytes: 32 << 20,
            webcrypto_from_bytes: 64 << 10,
            webcrypto_part_bytes: 256,
            errand_from_bytes: 32 << 10,
            look_ahead_per_worker: 2,
            window_bytes: 64 << 20,
        }
    }

    /// How many bytes to read for an object of `object_bytes`. `follows` tells whether the last one lay before it in the same
    /// pack: then what comes after it will be wanted next.
    pub fn read_bytes(&self, object_bytes: usize, follows: bool) -> usize {
        if follows { object_bytes.max(self.read_ahead_bytes) } else { object_bytes }
    }

    /// How many threads hash an input of `bytes` with BLAKE3, the caller among them: at least 1.
    pub fn hash_threads(&self, bytes: usize, idle: usize) -> usize {
        if bytes < self.blake3_threads_from_bytes { 1 } else { self.threads.min(1 + idle) }
    }

    /// How many of libzstd's workers compress a chunk of `bytes` at `level`, while the caller waits: at least 2, or else 0
    /// for none, so that the caller compresses it.
    pub fn zstd_workers(&self, bytes: usize, level: i32, idle: usize) -> usize {
        if bytes < self.zstd_workers_from_bytes || level > LAST_SPLIT_LEVEL {
            return 0;
        }
        let workers = self.zstd_workers.unwrap_or(self.threads.min(1 + idle).min(MAX_WORKERS));
        if workers > 1 { workers } else { 0 }
    }

    /// How many of libzstd's workers compress one long stream, as a tar file is: all threads, if nothing is asked for.
    /// 0 for none.
    pub fn zstd_stream_workers(&self) -> usize {
        let workers = self.zstd_workers.unwrap_or(self.threads);
        if workers > 1 { workers } else { 0 }
    }

    /// How many chunks are hashed, compressed and sealed at once, at least 1: one for each thread. Where chunks have a set
    /// number of zstd workers, it is divided by them.
    pub fn seal_threads(&self) -> usize {
        (self.threads / self.zstd_workers.unwrap_or(1).max(1)).max(1)
    }

    /// How many threads make an archive, at least 1: then it is the caller.
    pub fn create_threads(&self) -> usize {
        self.create_workers.unwrap_or(self.seal_threads()).max(1)
    }

    /// How many jobs of `bytes` may be begun and not done while so many `threads` make an archive: for each what it works on
    /// and what comes next; at least 2.
    pub fn create_jobs(&self, threads: usize, bytes: usize) -> usize {
        (2 * threads + 1).min(2 * self.create_bytes / bytes.max(1)).max(2)
    }

    /// How many chunks are authenticated, decompressed and verified at once, at least 1: then by the caller.
    pub fn extract_threads(&self) -> usize {
        self.extract_workers.unwrap_or(self.threads.min(MAX_WORKERS)).max(1)
    }

    /// How many chunks may be in flight while so many `threads` work on them; at least 1, which is none ahead.
    pub fn look_ahead(&self, threads: usize) -> usize {
        if threads <= 1 { 1 } else { threads.saturating_mul(self.look_ahead_per_worker) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    #[test]
    fn long_inputs_are_hashed_by_idle_threads() {
        let tuning = Tuning::new(8);
        let threads = [(0, 7), (256 * KIB - 1, 7), (256 * KIB, 0), (256 * KIB, 1), (256 * KIB, 7), (64 << 20, 99)]
            .map(|(bytes, idle)| tuning.hash_threads(bytes, idle));
        assert_eq!(threads, [1, 1, 1, 2, 8, 8]);
        let always = Tuning { blake3_threads_from_bytes: 0, ..tuning };
        assert_eq!([always.hash_threads(1, 3), always.hash_threads(1, 0)], [4, 1]);
        assert_eq!(Tuning::new(1).hash_threads(1 << 20, 5), 1);
    }

    #[test]
    fn large_chunks_are_compressed_by_idle_threads() {
        let tuning = Tuning::new(8);
        let large = 768 * KIB;
        let workers = |bytes, level, idle| tuning.zstd_workers(bytes, level, idle);
        assert_eq!([workers(large - 1, 3, 7), workers(large, 3, 7)], [0, 4]);
        assert_eq!([0, 1, 2, 3, 4].map(|idle| workers(large, 3, idle)), [0, 2, 3, 4, 4]);
        assert_eq!([-128, -4, 0, 18, 19, 22].map(|level| workers(8 << 20, level, 7)), [4, 4, 4, 4, 0, 0]);
        assert_eq!(Tuning::new(2).zstd_workers(large, 3, 7), 2);
        assert_eq!(Tuning::new(1).zstd_workers(large, 3, 7), 0);
    }

    #[test]
    fn a_set_number_of_zstd_workers_narrows_what_is_around_them() {
        let with = |workers| Tuning { zstd_workers: workers, ..Tuning::new(8) };
        let inner = |workers, idle| with(workers).zstd_workers(768 * KIB, 3, idle);
        for (set, wanted) in [(0, 0), (1, 0), (2, 2), (6, 6), (12, 12)] {
            assert_eq!([inner(Some(set), 0), inner(Some(set), 7)], [wanted, wanted]);
            assert_eq!(with(Some(set)).zstd_stream_workers(), wanted);
            assert_eq!(with(Some(set)).zstd_workers(768 * KIB - 1, 3, 7), 0);
            assert_eq!(with(Some(set)).zstd_workers(768 * KIB, 19, 7), 0);
        }
        let outer = [None, Some(0), Some(1), Some(2), Some(3), Some(8), Some(99)].map(|set| with(set).seal_threads());
        assert_eq!(outer, [8, 8, 8, 4, 2, 1, 1]);
        assert_eq!([1, 2, 12].map(|threads| Tuning::new(threads).zstd_stream_workers()), [0, 2, 12]);
    }

    #[test]
    fn extraction_has_four_workers_or_as_many_as_are_set() {
        assert_eq!([0, 1, 2, 4, 64].map(|threads| Tuning::new(threads).extract_threads()), [1, 1, 2, 4, 4]);
        let set = |workers| Tuning { extract_workers: Some(workers), ..Tuning::new(2) };
        assert_eq!([0, 1, 2, 8].map(|workers| set(workers).extract_threads()), [1, 1, 2, 8]);
        assert_eq!([0, 1, 2, 8, usize::MAX].map(|threads| set(0).look_ahead(threads)), [1, 1, 4, 16, usize::MAX]);
    }
}
