//! What was asked of a repository's storage, for `--stats`.

use crate::output::display::size::Units;
use crate::output::json::Object;
use std::time::Duration;

/// Operations by kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct StoreStats {
    /// Listings.
    pub list: Operations,
    /// Objects or parts of them that were read.
    pub load: Operations,
    /// Objects that were written.
    pub store: Operations,
    /// Objects that were removed.
    pub delete: Operations,
    /// Objects that got another name.
    pub rename: Operations,
}

/// How often one kind of operation was done, how long it took in all, and how much it moved.
#[derive(Debug, Clone, Copy, Default)]
pub struct Operations {
    calls: u64,
    time: Duration,
    volume_bytes: u64,
}

impl Operations {
    /// Counts one operation.
    pub fn add(&mut self, time: Duration, volume_bytes: usize) {
        self.calls += 1;
        self.time += time;
        self.volume_bytes += volume_bytes as u64;
    }
}

impl StoreStats {
    /// Kinds of operations by Borg's names, and whether they move data.
    fn by_name(&self) -> [(&'static str, Operations, bool); 6] {
        [
            ("info", Operations::default(), false),
            ("list", self.list, false),
            ("load", self.load, true),
            ("store", self.store, true),
            ("delete", self.delete, false),
            ("move", self.rename, false),
        ]
    }

    /// The object `store_stats` of `--json`.
    pub fn json(&self) -> Object {
        let mut object = Object::new();
        for (name, operations, moves) in self.by_name() {
            let seconds = operations.time.as_secs_f64();
            object.set(&format!("{name}_calls"), operations.calls);
            object.set(&format!("{name}_time"), seconds);
            if moves {
                let volume = operations.volume_bytes;
                object.set(&format!("{name}_volume"), volume);
                object.set(&format!("{name}_throughput"), if seconds > 0.0 { volume as f64 / seconds } else { 0.0 });
            }
        }
        for (name, operations) in [("load", self.load), ("store", self.store)] {
            object.set(&format!("backend_{name}_calls"), operations.calls);
            object.set(&format!("backend_{name}_volume"), operations.volume_bytes);
        }
        object.set("backend_delete_calls", self.delete.calls);
        object.set("cache_disabled", true);
        for name in
            ["hits", "misses", "errors", "hit_ratio", "load_calls", "load_volume", "store_calls", "store_volume"]
        {
            object.set(&format!("cache_{name}"), 0u64);
        }
        object.with("cache_delete_calls", 0u64)
    }

    /// The lines that Borg shows. Every operation reaches the folder itself: nothing is cached.
    pub fn lines(&self, units: Units) -> Vec<String> {
        let mut lines = Vec::new();
        for (name, operations, moves) in self.by_name() {
            let seconds = operations.time.as_secs_f64();
            lines.push(format!("Store {name} calls: {}", operations.calls));
            lines.push(format!("Store {name} time: {seconds:.3} seconds"));
            if moves {
                let volume = operations.volume_bytes;
                let throughput = if seconds > 0.0 { (volume as f64 / seconds) as u64 } else { 0 };
                lines.push(format!("Store {name} volume: {}", units.display(volume)));
                lines.push(format!("Store {name} throughput: {}/s", units.display(throughput)));
            }
        }
        for (name, operations) in [("load", self.load), ("store", self.store)] {
            lines.push(format!("Store backend {name} calls: {}", operations.calls));
            lines.push(format!("Store backend {name} volume: {}", units.display(operations.volume_bytes)));
        }
        lines.push(format!("Store backend delete calls: {}", self.delete.calls));
        let nothing = units.display(0).to_string();
        for (name, value) in [
            ("disabled", "True"),
            ("hits", "0"),
            ("misses", "0"),
            ("hit ratio", "0.0%"),
            ("errors", "0"),
            ("load calls", "0"),
            ("load volume", &nothing),
            ("store calls", "0"),
            ("store volume", &nothing),
            ("delete calls", "0"),
        ] {
            lines.push(format!("Store cache {name}: {value}"));
        }
        lines
    }
}
