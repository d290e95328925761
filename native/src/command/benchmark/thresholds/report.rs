//! What was measured and what it means, as text and as JSON.

use super::advice::{Advice, CHUNK_KIB, Finding, Workers};
use super::rule::{Point, Size};
use super::sweep::{Subject, Sweep};
use crate::output::json::{Indent, Json, Object};
use std::fmt::Write as _;

/// Where it was measured.
pub struct Machine {
    system: String,
    processor: String,
    threads: usize,
}

impl Machine {
    /// This one, with so many processors for us.
    pub fn this(threads: usize) -> Self {
        let name = rustix::system::uname();
        let [system, release, processor] =
            [name.sysname(), name.release(), name.machine()].map(|part| part.to_string_lossy().into_owned());
        Machine { system: format!("{system} {release}"), processor, threads }
    }

    /// One line.
    pub fn text(&self) -> String {
        let (Machine { system, processor, threads }, version) = (self, env!("CARGO_PKG_VERSION"));
        format!("{processor}, {threads} processors, {system}, portaborg {version}\n")
    }

    fn json(&self) -> Object {
        Object::new()
            .with("platform", &*self.system)
            .with("machine", &*self.processor)
            .with("cpus_available", self.threads as u64)
            .with("portaborg", env!("CARGO_PKG_VERSION"))
    }
}

/// All sizes of one subject.
pub fn table(sweep: &Sweep, margin: f64) -> String {
    let mut text = format!("\n{}\n{:>10} {:>14} {:>14}   ratio\n", title(sweep), "KiB", "1 thread", "several");
    for &Point { size, single, multi, ratio, .. } in &sweep.points {
        let slower = if ratio < margin { "  slower" } else { "" };
        let size = shown(size);
        let _ = writeln!(text, "{size:>10} {single:>8.0} MiB/s {multi:>8.0} MiB/s {ratio:>6.2}x{slower}");
    }
    text
}

/// What was compared.
pub fn title(sweep: &Sweep) -> String {
    match sweep.subject {
        Subject::Blake3 => format!("BLAKE3, 1 thread and {}", sweep.threads),
        Subject::Zstd { .. } => format!("{}, 1 thread and {} workers", work(sweep), sweep.threads),
    }
}

fn work(sweep: &Sweep) -> String {
    match sweep.subject {
        Subject::Blake3 => "BLAKE3".into(),
        Subject::Zstd { level, data, .. } => format!("zstd,{level} with {} data", data.name()),
    }
}

fn shown(Size { kib, odd_bytes }: Size) -> String {
    if odd_bytes > 0 { format!("{kib}+{odd_bytes}B") } else { kib.to_string() }
}

/// What to set, and why.
pub fn advice(advice: &Advice<'_>) -> String {
    let mut text = String::from("\n");
    let _ = match advice.blake3.threshold_kib {
        Some(kib) => writeln!(text, "BLAKE3: several threads pay from {kib} KiB on ({} bytes)", kib * 1024),
        None => writeln!(text, "BLAKE3: several threads do not pay at any size; one should do it all"),
    };
    finding(&mut text, &advice.blake3);
    let _ = match advice.blake3.threshold_kib {
        Some(kib) if kib == advice.blake3.default_kib => writeln!(text, "  That is the default: set nothing."),
        Some(kib) => writeln!(text, "  export BORG_BLAKE3_MT_THRESHOLD={kib}"),
        None => writeln!(text, "  export BORG_BLAKE3_MT_THRESHOLD={}", i64::MAX / 1024),
    };
    for workers in &advice.zstd {
        text.push('\n');
        self::workers(&mut text, workers);
    }
    let _ = match advice.zstd_workers() {
        1 => writeln!(text, "\n  export BORG_ZSTD_MT_WORKERS=1"),
        count if count == advice.usual_workers => {
            writeln!(text, "\n{count} workers are the default where threads are idle: set nothing.")
        }
        count => writeln!(
            text,
            "\n  export BORG_ZSTD_MT_WORKERS={count}\n  for few large chunks. Where there are many, it is faster to set \
             nothing: then each thread has a chunk."
        ),
    };
    if advice.noise > MUCH_NOISE {
        let percent = advice.noise * 100.0;
        let _ = writeln!(
            text,
            "\nThe machine is busy: what should have been the same varied by {percent:.0} % in the median. Measure \
             again when it is idle."
        );
    }
    text
}

fn workers(text: &mut String, workers: &Workers<'_>) {
    let Workers { count, mean, worst, cutoff } = workers;
    let (name, tried, mib) = (work(cutoff.sweep), cutoff.sweep.threads, CHUNK_KIB / 1024);
    let worst = worst.map_or(String::new(), |worst| format!(", at least {:.2}x", worst.ratio));
    let _ = match count {
        1 => writeln!(
            text,
            "{name}: 1 worker is best; {tried} would make chunks from {mib} MiB on {mean:.2}x as fast{worst}"
        ),
        count => writeln!(text, "{name}: {count} workers make chunks from {mib} MiB on {mean:.2}x as fast{worst}"),
    };
    if let Some(kib) = cutoff.threshold_kib {
        let _ = writeln!(text, "  {tried} pay from {kib} KiB on");
    }
    finding(text, cutoff);
}

fn finding(text: &mut String, finding: &Finding<'_>) {
    let points = &finding.sweep.points;
    if let Some(kib) = finding.threshold_kib
        && let Some(there) = points.iter().find(|point| point.size == Size { kib, odd_bytes: 0 })
        && let Some(worst) = super::rule::worst_from(points, kib)
        && let Some(last) = points.last()
    {
        let _ = writeln!(
            text,
            "  {:.2}x there, at worst {:.2}x ({} KiB), {:.2}x at the largest size",
            there.ratio,
            worst.ratio,
            shown(worst.size),
            last.ratio
        );
    }
    if let Some(worst) = finding.default_loses {
        let (kib, size) = (finding.default_kib, shown(worst.size));
        let _ = writeln!(text, "  The default of {kib} KiB loses on this machine: {:.2}x at {size} KiB", worst.ratio);
    }
}

/// Everything; about BLAKE3 with the names that Borg's script has.
pub fn json(machine: &Machine, sweeps: &[Sweep], advice: &Advice<'_>, margin: f64) -> Object {
    let zstd = sweeps.iter().filter_map(|sweep| match sweep.subject {
        Subject::Blake3 => None,
        Subject::Zstd { level, data, workers } => Some(Json::from(
            Object::new()
                .with("compression", format!("zstd,{level}"))
                .with("data", data.name())
                .with("workers", workers as u64)
                .with("cutoff_kib", super::rule::threshold_kib(&sweep.points, margin).map(|kib| kib as u64))
                .with("results", results(sweep)),
        )),
    });
    Object::new()
        .with("machine", machine.json())
        .with("margin", margin)
        .with("noise", advice.noise)
        .with("threshold_kib", advice.blake3.threshold_kib.map(|kib| kib as u64))
        .with("default_loses", advice.blake3.default_loses.is_some())
        .with("results", results(advice.blake3.sweep))
        .with("zstd_workers", advice.zstd_workers() as u64)
        .with("zstd", zstd.collect::<Vec<Json>>())
}

/// The same as the text of a file.
pub fn document(object: Object) -> String {
    format!("{}\n", Json::from(object).document(&Indent::default()))
}

fn results(sweep: &Sweep) -> Vec<Json> {
    let result = |point: &Point| {
        Object::new()
            .with("kib", point.size.kib as u64)
            .with("bytes", point.size.bytes() as u64)
            .with("single", point.single)
            .with("auto", point.multi)
            .with("ratio", point.ratio)
            .with("noise", point.noise)
            .into()
    };
    sweep.points.iter().map(result).collect()
}

/// If more varies, the machine has other things to do.
const MUCH_NOISE: f64 = 0.25;

#[cfg(test)]
mod tests {
    use super::super::sweep::Data;
    use super::*;
    use portaborg_core::tuning::Tuning;

    fn sweep(subject: Subject, ratios: &[(usize, usize, f64)]) -> Sweep {
        let points = ratios.iter().map(|&(kib, odd_bytes, ratio)| {
            let size = Size { kib, odd_bytes };
            Point { size, single: 2000.0, multi: 2000.0 * ratio, ratio, noise: 0.5 }
        });
        Sweep { subject, threads: 2, points: points.collect() }
    }

    #[test]
    fn it_says_where_the_defaults_lose() {
        let zstd = |level, data| Subject::Zstd { level, data, workers: 2 };
        let sweeps = [
            sweep(Subject::Blake3, &[(256, 0, 1.1), (256, 331, 0.85), (512, 0, 1.5), (1008, 0, 1.25), (1024, 0, 1.75)]),
            sweep(zstd(3, Data::Text), &[(768, 0, 1.25), (1024, 0, 1.5)]),
            sweep(zstd(3, Data::Random), &[(768, 0, 0.5), (1024, 0, 0.25)]),
        ];
        let found = Advice::of(&sweeps, &Tuning::new(2), 1.0);
        let text = advice(&found);
        assert_eq!(
            text,
            "
BLAKE3: several threads pay from 512 KiB on (524288 bytes)
  1.50x there, at worst 1.25x (1008 KiB), 1.75x at the largest size
  The default of 256 KiB loses on this machine: 0.85x at 256+331B KiB
  export BORG_BLAKE3_MT_THRESHOLD=512

zstd,3 with text data: 2 workers make chunks from 1 MiB on 1.50x as fast, at least 1.50x
  2 pay from 768 KiB on
  1.25x there, at worst 1.25x (768 KiB), 1.50x at the largest size

zstd,3 with random data: 1 worker is best; 2 would make chunks from 1 MiB on 0.25x as fast, at least 0.25x
  The default of 768 KiB loses on this machine: 0.25x at 1024 KiB

2 workers are the default where threads are idle: set nothing.

The machine is busy: what should have been the same varied by 50 % in the median. Measure again when it is idle.
"
        );
        let machine = Machine { system: "Linux".into(), processor: "x86_64".into(), threads: 2 };
        let json = document(json(&machine, &sweeps, &found, 1.0));
        assert!(json.contains("\"threshold_kib\": 512") && json.contains("\"zstd_workers\": 2"), "{json}");
        assert_eq!(json.matches("\"auto\"").count(), 9);
    }

    #[test]
    fn one_thread_may_be_best() {
        let zstd = Subject::Zstd { level: 3, data: Data::Text, workers: 2 };
        let sweeps = [sweep(Subject::Blake3, &[(256, 0, 0.5)]), sweep(zstd, &[(1024, 0, 0.75)])];
        let text = advice(&Advice::of(&sweeps, &Tuning::new(2), 1.0));
        assert!(text.contains("one should do it all") && text.contains("export BORG_ZSTD_MT_WORKERS=1"), "{text}");
        assert_eq!(
            table(&sweeps[0], 1.0),
            "\nBLAKE3, 1 thread and 2\n       KiB       1 thread        several   ratio\n       256     2000 MiB/s     1000 MiB/s   0.50x  slower\n"
        );
    }
}
