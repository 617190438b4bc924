//! Tests vectors of NIST's validation program for SHA (CAVP, SHAVS byte-oriented vectors): the short messages
//! of one byte, of a block less one byte and of a block, and the first long message.

use ftk_hash::{Algorithm, Digest, Platform, Simd};

/// Checks every kernel of this CPU in each of its lanes.
fn check(algorithm: Algorithm, vectors: &[(&str, &str)]) {
    for (message, expected) in vectors {
        let message: Vec<u8> = message.as_bytes().chunks(2).map(byte).collect();
        for platform in Simd::ALL.into_iter().filter_map(|simd| Platform::up_to(simd).ok()) {
            let mut digests = [Digest::from_bytes(&[]); 17];
            algorithm.hash_many_with(platform, &[message.as_slice(); 17], &mut digests);
            for digest in digests {
                let kernel = algorithm.kernel_name(platform);
                assert_eq!(digest.to_string(), *expected, "{algorithm}, {kernel}, {} bytes", message.len());
            }
        }
    }
}

fn byte(digits: &[u8]) -> u8 {
    u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap()
}

#[test]
fn sha1() {
    check(
        Algorithm::Sha1,
        &[
            ("36", "c1dfd96eea8cc2b62785275bca38ac261256e278"),
            (
                "f2c76ef617fa2bfc8a4d6bcbb15fe88436fdc2165d3074629579079d4d5b86f5081ab177b4c3f530376c9c924cbd421a8daf8830d0940c4fb7589865830699",
                "9f3ea255f6af95c5454e55d7354cabb45352ea0b",
            ),
            (
                "45927e32ddf801caf35e18e7b5078b7f5435278212ec6bb99df884f49b327c6486feae46ba187dc1cc9145121e1492e6b06e9007394dc33b7748f86ac3207cfe",
                "a70cfbfe7563dd0e665c7c6715a96a8d756950c0",
            ),
            (
                "7c9c67323a1df1adbfe5ceb415eaef0155ece2820f4d50c1ec22cba4928ac656c83fe585db6a78ce40bc42757aba7e5a3f582428d6ca68d0c3978336a6efb729613e8d9979016204bfd921322fdd5222183554447de5e6e9bbe6edf76d7b71e18dc2e8d6dc89b7398364f652fafc734329aafa3dcd45d4f31e388e4fafd7fc6495f37ca5cbab7f54d586463da4bfeaa3bae09f7b8e9239d832b4f0a733aa609cc1f8d4",
                "d8fd6a91ef3b6ced05b98358a99107c1fac8c807",
            ),
        ],
    );
}

#[test]
fn sha256() {
    check(
        Algorithm::Sha256,
        &[
            ("d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1"),
            (
                "e2f76e97606a872e317439f1a03fcd92e632e5bd4e7cbc4e97f1afc19a16fde92d77cbe546416b51640cddb92af996534dfd81edb17c4424cf1ac4d75aceeb",
                "18041bd4665083001fba8c5411d2d748e8abbfdcdfd9218cb02b68a78e7d4c23",
            ),
            (
                "5a86b737eaea8ee976a0a24da63e7ed7eefad18a101c1211e2b3650c5187c2a8a650547208251f6d4237e661c7bf4c77f335390394c37fa1a9f9be836ac28509",
                "42e61e174fbb3897d6dd6cef3dd2802fe67b331953b06114a65c772859dfc1aa",
            ),
            (
                "451101250ec6f26652249d59dc974b7361d571a8101cdfd36aba3b5854d3ae086b5fdd4597721b66e3c0dc5d8c606d9657d0e323283a5217d1f53f2f284f57b85c8a61ac8924711f895c5ed90ef17745ed2d728abd22a5f7a13479a462d71b56c19a74a40b655c58edfe0a188ad2cf46cbf30524f65d423c837dd1ff2bf462ac4198007345bb44dbb7b1c861298cdf61982a833afc728fae1eda2f87aa2c9480858bec",
                "3c593aa539fdcdae516cdf2f15000f6634185c88f505b39775fb9ab137a10aa2",
            ),
        ],
    );
}

#[test]
fn sha512() {
    check(
        Algorithm::Sha512,
        &[
            (
                "21",
                "3831a6a6155e509dee59a7f451eb35324d8f8f2df6e3708894740f98fdee23889f4de5adb0c5010dfb555cda77c8ab5dc902094c52de3278f35a75ebc25f093a",
            ),
            (
                "c13e6ca3abb893aa5f82c4a8ef754460628af6b75af02168f45b72f8f09e45ed127c203bc7bb80ff0c7bd96f8cc6d8110868eb2cfc01037d8058992a6cf2effcbfe498c842e53a2e68a793867968ba18efc4a78b21cdf6a11e5de821dcabab14921ddb33625d48a13baffad6fe8272dbdf4433bd0f7b813c981269c388f001",
                "6e56f77f6883d0bd4face8b8d557f144661989f66d51b1fe4b8fc7124d66d9d20218616fea1bcf86c08d63bf8f2f21845a3e519083b937e70aa7c358310b5a7c",
            ),
            (
                "fd2203e467574e834ab07c9097ae164532f24be1eb5d88f1af7748ceff0d2c67a21f4e4097f9d3bb4e9fbf97186e0db6db0100230a52b453d421f8ab9c9a6043aa3295ea20d2f06a2f37470d8a99075f1b8a8336f6228cf08b5942fc1fb4299c7d2480e8e82bce175540bdfad7752bc95b577f229515394f3ae5cec870a4b2f8",
                "a21b1077d52b27ac545af63b32746c6e3c51cb0cb9f281eb9f3580a6d4996d5c9917d2a6e484627a9d5a06fa1b25327a9d710e027387fc3e07d7c4d14c6086cc",
            ),
            (
                "4f05600950664d5190a2ebc29c9edb89c20079a4d3e6bc3b27d75e34e2fa3d02768502bd69790078598d5fcf3d6779bfed1284bbe5ad72fb456015181d9587d6e864c940564eaafb4f2fead4346ea09b6877d9340f6b82eb1515880872213da3ad88feba9f4f13817a71d6f90a1a17c43a15c038d988b5b29edffe2d6a062813cedbe852cde302b3e33b696846d2a8e36bd680efcc6cd3f9e9a4c1ae8cac10cc5244d131677140399176ed46700019a004a163806f7fa467fc4e17b4617bbd7641aaff7ff56396ba8c08a8be100b33a20b5daf134a2aefa5e1c3496770dcf6baa4f7bb",
                "a9db490c708cc72548d78635aa7da79bb253f945d710e5cb677a474efc7c65a2aab45bc7ca1113c8ce0f3c32e1399de9c459535e8816521ab714b2a6cd200525",
            ),
        ],
    );
}
