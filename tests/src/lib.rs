//! What the conformance tests share.
//!
//! The fixtures in `tests/fixtures/borg2` were written by the real client; beside each lies what must come out of it.
//! A test runs a program (`portaborg`, or the real client to compare with) as a user would: as a process, in a clean
//! environment, on a fresh copy, and looks at what it printed, what it returned and what it left behind.
//!
//! | module | what |
//! | - | - |
//! | [`expected`] | `*.expected.json` as types |
//! | [`fixture`] | the fixtures: found by name, unpacked with their times |
//! | [`scratch`] | folders of their own that vanish again |
//! | [`program`] | one run of a program: environment, limits, what it did |
//! | [`client`] | a program at work on one repository, and both of them |
//! | [`peers`] | where the real client is |
//! | [`tree`] | everything a folder holds, to compare |
//! | [`census`] | what lies in a repository, by type |
//! | [`source`] | a tree to back up, with one of everything |
//! | [`corpora`] | data to measure with |
//! | [`dice`] | chance that can be repeated |
//! | [`kills`] | kills at random moments, and what is there after them |
//! | [`bare`] | core without std |
//! | [`acl`] | ACLs as text and as the kernel keeps them |
//! | [`machine`] | what this machine can keep, and its users' names |
//! | [`items`] | items against `list` and `extract` |
//! | [`recording`] | a store that writes down what is done to it, and the states that a crash may leave |
//! | [`writing`] | create and compact through core, over such a store |
//! | [`trace`] | the system calls by which a program changes files |
//! | [`web`] | the npm package: built, packed and installed |
//! | [`chromium`] | a real browser, in which the package is used |
//! | [`wasi`] | the program for WASI, and what runs it |
//! | [`harness`] | runs tests by name, counts, reports |

pub mod acl;
pub mod bare;
pub mod census;
pub mod chromium;
pub mod client;
pub mod corpora;
pub mod dice;
pub mod expected;
pub mod fixture;
pub mod harness;
pub mod items;
pub mod kills;
pub mod machine;
pub mod peers;
pub mod program;
pub mod recording;
pub mod scratch;
pub mod source;
pub mod trace;
pub mod tree;
pub mod wasi;
pub mod web;
pub mod writing;
