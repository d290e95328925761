//! What Node writes is read by both programs, and has the chunks that they make.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use portaborg_tests::client::{Client, PASSPHRASE};
use portaborg_tests::dice::Dice;
use portaborg_tests::harness::Findings;
use portaborg_tests::scratch::Scratch;
use portaborg_tests::{peers, tree};
use serde_json::Value;

use crate::Installed;

/// What repositories Node writes.
pub const SUITES: &[Suite] = &[
    Suite {
        encryption: "aes256-ocb",
        id_hash: "sha256",
        compressions: r#"[null, "lz4", "zstd,-4"]"#,
        chunker_params: "fastcdc,19,23,21,2",
    },
    Suite {
        encryption: "chacha20-poly1305",
        id_hash: "blake3",
        compressions: r#"["auto,zstd,4", "zlib,1"]"#,
        chunker_params: "buzhash,10,17,15,4095",
    },
    Suite {
        encryption: "authenticated-blake3",
        id_hash: "blake3",
        compressions: r#"["obfuscate,110,none"]"#,
        chunker_params: "fixed,1048576",
    },
];

/// A repository that Node writes, with archives of one tree by several compressions.
pub struct Suite {
    encryption: &'static str,
    id_hash: &'static str,
    compressions: &'static str,
    chunker_params: &'static str,
}

impl Suite {
    /// Its name among tests.
    pub fn name(&self) -> String {
        format!("{}-{}", self.encryption, self.id_hash)
    }
}

/// Node makes a repository and archives of a tree; both programs verify it, list it, and extract what was archived; what they
/// make of the same tree are the same chunks; and Node removes that again.
pub fn write(installed: &Installed, suite: &Suite, findings: &mut Findings) {
    let Some(folder) = installed.folder(findings) else { return };
    let scratch = Scratch::new("npm-write");
    let sources = scratch.folder("sources");
    make_tree(&sources.join("src"));
    let repository = scratch.path().join("repository");
    let Suite { encryption, id_hash, compressions, chunker_params } = suite;
    let wishes = format!(
        r#"{{ "passphrase": "{PASSPHRASE}", "encryption": "{encryption}", "idHash": "{id_hash}",
        "compressions": {compressions}, "chunkerParams": "{chunker_params}" }}"#
    );
    let script = |what: &str| {
        let mut node = Command::new("node");
        node.args(["write.mjs", what]).arg(&repository).arg(&wishes).arg(&sources).current_dir(folder);
        let output = node.stdin(Stdio::null()).output().expect("Node is there");
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(output.status.success(), "write.mjs {what}: {}\n{}", output.status, said[1]);
        said[0].clone()
    };
    let made: Value = serde_json::from_str(&script("make")).unwrap_or_default();
    let ids: Vec<String> =
        made.as_array().into_iter().flatten().filter_map(|made| made["id"].as_str()).map(Into::into).collect();
    if ids.is_empty() {
        return findings.wrong("no archive was made");
    }
    let wanted = facts(&tree::read(&sources.join("src")));
    let ours = Client::ours(&scratch, &repository).env("BORG_TESTONLY_WEAKEN_KDF", "0");
    let peer = peers::borg2().map(|peer| Client::new(peer, &repository, &scratch.folder("base-of-peer")));
    let peer = peer.map(|peer| peer.env("BORG_TESTONLY_WEAKEN_KDF", "0"));
    for client in [Some(&ours), peer.as_ref()].into_iter().flatten() {
        client.verify();
        for id in &ids {
            let into = scratch.path().join(format!("by-{}-{id}", client.name().replace(' ', "-")));
            findings.check(facts(&client.extract(id, &into, "src")) == wanted, || {
                format!("{}: other files", client.name())
            });
            findings.check(client.list(id).lines().count() == wanted.len(), || "other items".into());
        }
        let _ = client.create(&["--chunker-params", chunker_params], &sources, "src");
    }
    findings.extend(script("compare").lines().map(str::to_owned));
    findings.extend(script("remove").lines().map(str::to_owned));
    for client in [Some(&ours), peer.as_ref()].into_iter().flatten() {
        client.verify();
        findings.check(client.archives().into_iter().eq([ids[0].clone()]), || "other archives are left".into());
    }
}

/// What an entry of the script has: path, mode, owner, digest of the content, time of change, and target.
type Facts = (Vec<u8>, u32, u32, Option<String>, i128, Option<Vec<u8>>);

fn facts(tree: &tree::Tree) -> Vec<Facts> {
    let fact = |(path, node): (&Vec<u8>, &tree::Node)| {
        (path.clone(), node.mode, node.uid, node.sha256.clone(), node.mtime_ns, node.target.clone())
    };
    tree.iter().map(fact).collect()
}

/// Files of every length that matters to a chunker, links and folders.
fn make_tree(folder: &Path) {
    let mut dice = Dice::new(5);
    let text: Vec<u8> =
        (0..200_000_u64).flat_map(|line| format!("{line} {}\n", line * line % 997).into_bytes()).collect();
    fs::create_dir_all(folder.join("deep/er")).expect("a new folder can be made");
    let noise = dice.bytes(5_000_000);
    for (name, content) in [
        ("empty", &b""[..]),
        ("small", b"x"),
        ("text", &text),
        ("deep/noise", &noise),
        ("deep/er/both", &[&text[..400_001], &noise[..900_000], &vec![0; 3_000_000]].concat()),
    ] {
        fs::write(folder.join(name), content).expect("a new folder can be written");
    }
    std::os::unix::fs::symlink("small", folder.join("link")).expect("a link can be made");
}
