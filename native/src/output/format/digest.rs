//! Digests of a file's content, as `list --format` names them (command line, section 4.1).

use blake2::{Blake2b512, Blake2s256};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

macro_rules! digests {
    ($($name:ident $key:literal $hasher:ty;)*) => {
        /// A digest algorithm. Its order is that of the names.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Digest {
            Blake3,
            $($name,)*
        }

        /// Computes one digest over a content that is given in pieces.
        pub struct Hasher(State);

        enum State {
            Blake3(Box<blake3::Hasher>),
            $($name($hasher),)*
        }

        impl Digest {
            /// Every algorithm.
            pub const ALL: &[Digest] = &[Digest::Blake3, $(Digest::$name),*];

            /// The name, both in formats and in an item's stored digests.
            pub fn name(self) -> &'static str {
                match self {
                    Digest::Blake3 => "blake3",
                    $(Digest::$name => $key,)*
                }
            }

            /// A hasher that has not seen anything.
            pub fn hasher(self) -> Hasher {
                Hasher(match self {
                    Digest::Blake3 => State::Blake3(Box::default()),
                    $(Digest::$name => State::$name(<$hasher>::new()),)*
                })
            }
        }

        impl Hasher {
            /// Takes the next piece of the content.
            pub fn update(&mut self, data: &[u8]) {
                match &mut self.0 {
                    State::Blake3(hasher) => { hasher.update(data); }
                    $(State::$name(hasher) => hasher.update(data),)*
                }
            }

            /// The digest of all the pieces.
            pub fn finish(self) -> Vec<u8> {
                match self.0 {
                    State::Blake3(hasher) => hasher.finalize().as_bytes().to_vec(),
                    $(State::$name(hasher) => hasher.finalize().to_vec(),)*
                }
            }
        }
    };
}

digests! {
    Blake2b "blake2b" Blake2b512;
    Blake2s "blake2s" Blake2s256;
    Md5 "md5" Md5;
    Sha1 "sha1" Sha1;
    Sha224 "sha224" Sha224;
    Sha256 "sha256" Sha256;
    Sha384 "sha384" Sha384;
    Sha3_224 "sha3_224" Sha3_224;
    Sha3_256 "sha3_256" Sha3_256;
    Sha3_384 "sha3_384" Sha3_384;
    Sha3_512 "sha3_512" Sha3_512;
    Sha512 "sha512" Sha512;
}

impl Digest {
    /// The algorithm of a name.
    pub fn from_name(name: &str) -> Option<Digest> {
        Digest::ALL.iter().copied().find(|digest| digest.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portaborg_core::bytes::Hex;

    /// Made by Python's hashlib and blake3 over `portaborg`.
    #[test]
    fn every_algorithm_gives_what_python_gives() {
        let wanted = [
            (
                "blake2b",
                "175f3d2deb6db942ed009dd15a3fca3c8ceabaa4a1d2586bb0dcca9e37144b3459154ba117d6c589d50123df36e559443a616105848a80b7250fa51874e87243",
            ),
            ("blake2s", "7eb08a73e10ddc3920dc62a9dff64ead7337b3feda35ddea4fb2ec55c802e9a2"),
            ("md5", "8b6a610443cf23f659b833ef46e74a07"),
            ("sha1", "5c6a767721acd00d135517fc23e6716155422f8e"),
            ("sha224", "4e86b035d3fb4e5bdaa87b4e024a7e1e0a95f68b2b8235f9b9b206d3"),
            ("sha256", "1815d1a2ef7b969d7687930278f3c0d1ace6a1a14fada44d4361898289e39257"),
            (
                "sha384",
                "13e8afe663eb51dc51aab94cc94f9246db4273b76ca7f31473c6cebe6ad75be6ca33dd3cd568a3ecd8a5ae3d4cc82726",
            ),
            ("sha3_224", "5eb6c3012537444fdf565687638ee695651df735d34bfdb30c3262b6"),
            ("sha3_256", "01ebdbf95aa09765d99d477a6bf2bf38bac824161c7a8e00a6cb7948abb8a4b2"),
            (
                "sha3_384",
                "d9e2ea52cd15a17e2115ccad27684fc5cc4c3547908b7a7c5d6ea5a65aab64b4231d55ba479a27ad761bb553b32b5d10",
            ),
            (
                "sha3_512",
                "3b0c34c091531d9d7f9c1f182554bd321d7baab89137d79a04f2d95a3ef9802913ddf95cd7b84d389533a1a505c56725dc7f8d214063ba889263969a81209b69",
            ),
            (
                "sha512",
                "1a5eb8a97579f5a34f4733c859fa871c495b781afdd071c0d41f653589720b49f048539ad447b8bc8b7700a6109ce274793529d353e11857c2022ddf42e569ab",
            ),
            ("blake3", "56f1838ec79fb4343ecc253ba78c09336b83080b9dc1bffcf7feae8b39d1fea5"),
        ];
        assert_eq!(wanted.len(), Digest::ALL.len());
        for (name, hex) in wanted {
            let mut hasher = Digest::from_name(name).unwrap().hasher();
            hasher.update(b"porta");
            hasher.update(b"borg");
            assert_eq!(Hex(&hasher.finish()).to_string(), hex, "{name}");
        }
        assert_eq!(Digest::from_name("shake_128"), None);
    }
}
