//! Tests published digests, and digests printed by independent tools.

use ftk_hash::{Algorithm, Digest, Hasher, Platform, Simd};

/// Returns the digest of `data`. Checks that full lanes of every kernel, and pieces of 1000 bytes, give the
/// same digest.
fn digest(algorithm: Algorithm, data: &[u8]) -> String {
    let whole = algorithm.hash_one(data);
    for platform in Simd::ALL.into_iter().filter_map(|simd| Platform::up_to(simd).ok()) {
        let mut digests = [Digest::from_bytes(&[]); 17];
        algorithm.hash_many_with(platform, &[data; 17], &mut digests);
        assert_eq!(digests, [whole; 17], "{algorithm}, {}", algorithm.kernel_name(platform));
    }
    let mut hasher = Hasher::new(algorithm);
    data.chunks(1000).for_each(|piece| hasher.update(piece));
    assert_eq!(hasher.finalize(), whole, "{algorithm}");
    assert_eq!(Digest::from_hex(whole.to_string().as_bytes()), Some(whole));
    whole.to_string()
}

/// Returns the bytes 0 to 250, repeated: the input of the BLAKE3 vectors.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

fn check(algorithm: Algorithm, cases: &[(&[u8], &str)]) {
    for (data, expected) in cases {
        assert_eq!(digest(algorithm, data), *expected, "{algorithm} of {} bytes", data.len());
    }
}

fn check_pattern(algorithm: Algorithm, cases: &[(usize, &str)]) {
    for &(len, expected) in cases {
        assert_eq!(digest(algorithm, &pattern(len)), expected, "{algorithm} of {len} bytes");
    }
}

/// FIPS 180-2, appendices A to C, and the empty message.
#[test]
fn sha1() {
    check(
        Algorithm::Sha1,
        &[
            (b"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (b"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            (&[b'a'; 1_000_000], "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ],
    );
}

/// FIPS 180-2, appendices A to C, and the empty message.
#[test]
fn sha256() {
    check(
        Algorithm::Sha256,
        &[
            (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&[b'a'; 1_000_000], "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ],
    );
}

/// FIPS 180-2, appendices A to C, and the empty message.
#[test]
fn sha512() {
    check(Algorithm::Sha512, &[
        (b"", "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"),
        (b"abc", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"),
        (b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"),
        (&[b'a'; 1_000_000], "e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973ebde0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"),
    ]);
}

/// RFC 1321, appendix A.5.
#[test]
fn md5() {
    check(
        Algorithm::Md5,
        &[
            (b"", "d41d8cd98f00b204e9800998ecf8427e"),
            (b"a", "0cc175b9c0f1b6a831c399e269772661"),
            (b"abc", "900150983cd24fb0d6963f7d28e17f72"),
            (b"message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (b"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            (
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "d174ab98d277d9f5a5611c2c9f419d9f",
            ),
            (
                b"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ],
    );
}

/// RFC 7693, appendix A, for "abc"; for the others, the output of `b2sum` of coreutils 9.1.
#[test]
fn blake2b() {
    check(
        Algorithm::Blake2b,
        &[
            (
                b"",
                "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce",
            ),
            (
                b"abc",
                "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
            ),
            (
                &[b'a'; 1_000_000],
                "98fb3efb7206fd19ebf69b6f312cf7b64e3b94dbe1a17107913975a793f177e1d077609d7fba363cbba00d05f7aa4e4fa8715d6428104c0a75643b0ff3fd3eaf",
            ),
        ],
    );
}

/// The official `test_vectors.json`, first 32 bytes of output.
#[test]
fn blake3() {
    check_pattern(
        Algorithm::Blake3,
        &[
            (0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
            (1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"),
            (63, "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b"),
            (64, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98"),
            (65, "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee"),
            (1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"),
            (1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"),
            (1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"),
            (2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"),
            (2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"),
            (3072, "b98cb0ff3623be03326b373de6b9095218513e64f1ee2edd2525c7ad1e5cffd2"),
            (3073, "7124b49501012f81cc7f11ca069ec9226cecb8a2c850cfe644e327d22d3e1cd3"),
            (8193, "bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b"),
            (16384, "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4"),
            (31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"),
            (102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"),
        ],
    );
}

/// Output of xxhsum 0.8.1, for lengths around each change of method.
#[test]
fn xxh64() {
    check_pattern(
        Algorithm::Xxh64,
        &[
            (0, "ef46db3751d8e999"),
            (1, "e934a84adb052768"),
            (3, "e5c7bb4533bc65dd"),
            (4, "ffced8604453cc1e"),
            (8, "884a173614b81b8d"),
            (9, "67d85784a7c78c5b"),
            (16, "44b6ef2fb84169f7"),
            (17, "5603e60c527599b6"),
            (128, "7a7fe14647b9ab92"),
            (129, "0ba25dfd6e891fcf"),
            (240, "012947f0da6a27b1"),
            (241, "8d643f23bf2808e1"),
            (256, "f33944343ee85824"),
            (512, "5e98ad3befbab5dd"),
            (1000, "f306f04aa88b54d3"),
            (1024, "138e26c65048ce29"),
            (1025, "cfd73aedd2d6a39d"),
            (102400, "eb1adcdd9e1369a6"),
        ],
    );
}

/// Output of xxhsum 0.8.1, for lengths around each change of method.
#[test]
fn xxh3() {
    check_pattern(
        Algorithm::Xxh3,
        &[
            (0, "2d06800538d394c2"),
            (1, "c44bdff4074eecdb"),
            (3, "5f4299fc161c9cbb"),
            (4, "60dab036a58211f2"),
            (8, "3a1c2d7c85af88f8"),
            (9, "e9612598145bb9dc"),
            (16, "8355e3a6f61770db"),
            (17, "9ef341a99de37328"),
            (128, "85c6174c7ff4c46b"),
            (129, "ec7642b431ba3e5a"),
            (240, "375a384d957fe865"),
            (241, "02e8cd95421c6d02"),
            (256, "44f5d90dacde463a"),
            (512, "5c021aac13954143"),
            (1000, "33ef703fb2b20ed1"),
            (1024, "e5d78bafa45b2aa5"),
            (1025, "e95c42288f28186e"),
            (102400, "1428e17f1cac2837"),
        ],
    );
}

/// Output of xxhsum 0.8.1, for lengths around each change of method.
#[test]
fn xxh128() {
    check_pattern(
        Algorithm::Xxh128,
        &[
            (0, "99aa06d3014798d86001c324468d497f"),
            (1, "a6cd5e9392000f6ac44bdff4074eecdb"),
            (3, "e3b55f57945a17cf5f4299fc161c9cbb"),
            (4, "eb70bf5fc779e9e6a6111d53e80a3db5"),
            (8, "e1e4432a62217fe4cfd50c61c8bb98c1"),
            (9, "16c769d83e4aebce907931979dca3746"),
            (16, "72950631827607e2842812cc870dcae2"),
            (17, "685bc458b37d057fc06e233df7729217"),
            (128, "14792fc3af88dc6c05321a0b64d67b41"),
            (129, "dd5e74ac6b45f54ebc30b63382b09a3b"),
            (240, "65b5be86da5540e7c92b68e16f83bbb6"),
            (241, "1da1cb61bcb8a2a102e8cd95421c6d02"),
            (256, "96c36c85d00e5bc544f5d90dacde463a"),
            (512, "5884ea91ad7102d75c021aac13954143"),
            (1000, "18bf41bc8229e27733ef703fb2b20ed1"),
            (1024, "d0ac1f7b93bf57b9e5d78bafa45b2aa5"),
            (1025, "2882ebca04ec915ce95c42288f28186e"),
            (102400, "ecd387d36185351b1428e17f1cac2837"),
        ],
    );
}

/// Output of the coreutils 9.1 tools, for lengths at which the padding needs another block.
#[test]
fn sha256_around_padding() {
    check_pattern(
        Algorithm::Sha256,
        &[
            (55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59"),
            (56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562"),
            (63, "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488"),
            (64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108"),
            (65, "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781"),
            (111, "60780e9451bdc43cf4530ffc95cbb0c4eb24dae2c39f55f334d679e076c08065"),
            (112, "09373f127d34e61dbbaa8bc4499c87074f2ddb10e1b465f506d7d70a15011979"),
            (127, "92ca0fa6651ee2f97b884b7246a562fa71250fedefe5ebf270d31c546bfea976"),
            (128, "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5"),
            (129, "5099c6a56203f9687f7d33f4bfdf576d31dc91f6b695ecea38b2770c87631135"),
            (102400, "74588b7f0bcc354ac14d9cf199fa3a20c05f0c7293b9075b2f2e146e718de800"),
        ],
    );
}

/// Output of the coreutils 9.1 tools, for lengths at which the padding needs another block.
#[test]
fn sha1_around_padding() {
    check_pattern(
        Algorithm::Sha1,
        &[
            (55, "8ae2d46729cfe68ff927af5eec9c7d1b66d65ac2"),
            (56, "636e2ec698dac903498e648bd2f3af641d3c88cb"),
            (63, "6d942da0c4392b123528f2905c713a3ce28364bd"),
            (64, "c6138d514ffa2135bfce0ed0b8fac65669917ec7"),
            (65, "69bd728ad6e13cd76ff19751fde427b00e395746"),
            (111, "bc544e24573d592290fdaff8ecf3f7f2b00cd483"),
            (112, "e4ce142d09a84a8645338dd6535cbfaaf800d320"),
            (127, "89d7312a903f65cd2b3e34a975e55dbea9033353"),
            (128, "e6434bc401f98603d7eda504790c98c67385d535"),
            (129, "3352e41cc30b40ae80108970492b21014049e625"),
            (102400, "f18b928d893ae172a000efa19b80e1c04fb36414"),
        ],
    );
}

/// Output of the coreutils 9.1 tools, for lengths at which the padding needs another block.
#[test]
fn sha512_around_padding() {
    check_pattern(
        Algorithm::Sha512,
        &[
            (
                55,
                "6856647f269c2ee3d8128f0b25427659d880641ef343300dd3cd4679168f58d6527fda70b4ebc854e2065e172b7d58c1536992c0810599259ba84a2b40c65414",
            ),
            (
                56,
                "8b12b2f6fe400a51d29656e2b8c42a1bbfe6fcf3e425da430db05d1a2dda14790dee20fa8b22d8762afffe4988a5c98a4430d22a17e41e23d90fa61ab75671a9",
            ),
            (
                63,
                "9dc9c5598e55dc42955695320839788e353f1d7f6ba74df74c80a8a52f463c0697f57f68835d1418f4ce9b6530cd79bd0f4c6f7e13c93feb1218c0b65c2c0561",
            ),
            (
                64,
                "ee4320ebaf3fdb4f2c832b137200c08e235e0fa7bbd0eb1740c7063ba8a0d151da77e003398e1714a955d475b05e3e950b639503b452ec185de4229bc4873949",
            ),
            (
                65,
                "02856cef735f9acec6b9e33f0fbc8f9804d2aa54187f382b8ae842e5d3696c07459aad2a5aed25ea5e117eb1c7ba35da6a7a8adce9e6afe3ad79e9fa42d5bba8",
            ),
            (
                111,
                "a1a111449b198d9b1f538bad7f3fc1022b3a5b1a5e90a0bc860de8512746cbc31599e6c834de3a3235327af0b51ff57bf7acf1974a73014d9c3953812edc7c8d",
            ),
            (
                112,
                "c5fbd731d19d2ae1180f001be72c2c1aaba1d7b094b3748880e24593b8e117a750e11c1bd867cc2f96dace8c8b74abd2d5c4f236be444e77d30d1916174070b9",
            ),
            (
                127,
                "eab89674feaa34e27aebeeff3c0a4d70070bb872d5e9f186cf1dbbdee517b6e35724d629ff025a5b07185e911ada7e3c8acf830aa0e4f71777bd2d44f504f7f0",
            ),
            (
                128,
                "1dffd5e3adb71d45d2245939665521ae001a317a03720a45732ba1900ca3b8351fc5c9b4ca513eba6f80bc7b1d1fdad4abd13491cb824d61b08d8c0e1561b3f7",
            ),
            (
                129,
                "1d9da57fbbdab09afb3506ab2d223d06109d65c1c8ad197f50138f714bc4c3f2fe5787922639c680acad1c651f955990425954ce2cba0c5cc83f2667d878eb0f",
            ),
            (
                102400,
                "2acda2d1386c8cd9ef01c797cfd154b073e7ea26e4c5741e9f2aee089dc8106cb887526d5bbb04920c2b742b2dab945e2a8db4cd31f58ac945aec9df89b1f18d",
            ),
        ],
    );
}

/// Output of the coreutils 9.1 tools, for lengths at which the padding needs another block.
#[test]
fn md5_around_padding() {
    check_pattern(
        Algorithm::Md5,
        &[
            (55, "6912ee65fff2d9f9ce2508cddf8bcda0"),
            (56, "51fdd1acda72405dfdfa03fcb85896d7"),
            (63, "48a6295221902e8e0938f773a7185e72"),
            (64, "b2d3f56bc197fd985d5965079b5e7148"),
            (65, "8bd7053801c768420faf816fadba971c"),
            (111, "4fad3ab7d8546851ec1bb63ea7e6f5a8"),
            (112, "d1fec2ac3715e791ca5f489f300381b3"),
            (127, "8402b21e7bc7906493bae0dac017f1f9"),
            (128, "37eff01866ba3f538421b30b7cbefcac"),
            (129, "46f986692847558fc38b0cece591c20f"),
            (102400, "1a0f81547e5ba2e9c4a4b94a74731993"),
        ],
    );
}

/// Output of the coreutils 9.1 tools, for lengths at which the padding needs another block.
#[test]
fn blake2b_around_padding() {
    check_pattern(
        Algorithm::Blake2b,
        &[
            (
                55,
                "659858f0b5c9edab5b94fd732f6e6b17c51cc096104f09beb3afc3aa467c2ecf885c4c6541effa9023d3b5738ae5a14d867e15db06fe1f9d1127b77e1aabb516",
            ),
            (
                56,
                "26cca0126f5d1a813c62e5c71001c046f9c92095704550be5873a495a999ad010a4f79491f24f286500adce1a137bc2084e4949f5b7294cefe51ecaff8e95cba",
            ),
            (
                63,
                "d10bf9a15b1c9fc8d41f89bb140bf0be08d2f3666176d13baac4d381358ad074c9d4748c300520eb026daeaea7c5b158892fde4e8ec17dc998dcd507df26eb63",
            ),
            (
                64,
                "2fc6e69fa26a89a5ed269092cb9b2a449a4409a7a44011eecad13d7c4b0456602d402fa5844f1a7a758136ce3d5d8d0e8b86921ffff4f692dd95bdc8e5ff0052",
            ),
            (
                65,
                "fcbe8be7dcb49a32dbdf239459e26308b84dff1ea480df8d104eeff34b46fae98627b450c2267d48c0946a697c5b59531452ac0484f1c84e3a33d0c339bb2e28",
            ),
            (
                111,
                "bf23c0c25c8060e4f6995f1623a3bebecaa96e308680000a8aa3cd56bb1a6da099e10d9231b37f4519b2efd2c24de72f31a5f19535241b4a59fa3c03ceb790e7",
            ),
            (
                112,
                "877fd652c05281009c0a5250e7a3a671f8b18c108817fe4a874de22da8e45db11958a600c5f62e67d36cbf84474cf244a9c2b03a9fb9dc711cd1a2cab6f3fae0",
            ),
            (
                127,
                "b6292669ccd38d5f01caae96ba272c76a879a45743afa0725d83b9ebb26665b731f1848c52f11972b6644f554c064fa90780dbbbf3a89d4fc31f67df3e5857ef",
            ),
            (
                128,
                "2319e3789c47e2daa5fe807f61bec2a1a6537fa03f19ff32e87eecbfd64b7e0e8ccff439ac333b040f19b0c4ddd11a61e24ac1fe0f10a039806c5dcc0da3d115",
            ),
            (
                129,
                "f59711d44a031d5f97a9413c065d1e614c417ede998590325f49bad2fd444d3e4418be19aec4e11449ac1a57207898bc57d76a1bcf3566292c20c683a5c4648f",
            ),
            (
                102400,
                "cbd9d7d77a4d66c0a2ddea931b1e7d91271005545f56f444decea823f7adc9bb0791bead840bdd341f04bc1baf1847248aa536baeafa40bda3a06229ae62ffd5",
            ),
        ],
    );
}

/// FIPS 180-2 with change notice 1 (SHA-224: appendix 1; SHA-384: appendix D), and the empty message.
#[test]
fn sha224_and_sha384() {
    check(
        Algorithm::Sha224,
        &[
            (b"", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
            (b"abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "75388b16512776cc5dba5da1fd890150b0c6455cb4f58b1952522525",
            ),
            (&[b'a'; 1_000_000], "20794655980c91d8bbb4c1ea97618a4bf03f42581948b2ee4ee7ad67"),
        ],
    );
    check(
        Algorithm::Sha384,
        &[
            (b"", "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da274edebfe76f65fbd51ad2f14898b95b"),
            (b"abc", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"),
            (b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", "09330c33f71147e83d192fc782cd1b4753111b173b3b05d22fa08086e3b0f712fcc7c71a557e2db966c3e9fa91746039"),
            (&[b'a'; 1_000_000], "9d0e1809716474cb086e834e310a4a1ced149e9c00f248527972cec5704c2a5b07b8b3dc38ecc4ebae97ddd87f3d8985"),
        ],
    );
}

/// The examples of NIST for FIPS 202, and the empty message.
#[test]
fn sha3() {
    check(
        Algorithm::Sha3_256,
        &[
            (b"", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
            (b"abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "41c0dba2a9d6240849100376a8235e2c82e1b9998a999e21db32dd97496d3376",
            ),
            (&[b'a'; 1_000_000], "5c8875ae474a3634ba4fd55ec85bffd661f32aca75c6d699d0cdcb6c115891c1"),
        ],
    );
    check(
        Algorithm::Sha3_512,
        &[
            (b"", "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a615b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26"),
            (b"abc", "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"),
            (b"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", "afebb2ef542e6579c50cad06d2e578f9f8dd6881d7dc824d26360feebf18a4fa73e3261122948efcfd492e74e82e2189ed0fb440d187f382270cb455f21dd185"),
            (&[b'a'; 1_000_000], "3c3a876da14034ab60627c077bb98f7e120a2a5370212dffb3385a18d4f38859ed311d0a9d5141ce9cc5c66ee689b266a8aa18ace8282a0e0db596c90b0a7b87"),
        ],
    );
}

/// The check value of CRC-32 in the catalogue of Ross Williams; for the others, the output of zlib.
#[test]
fn crc32() {
    check(
        Algorithm::Crc32,
        &[
            (b"123456789", "cbf43926"),
            (b"", "00000000"),
            (b"abc", "352441c2"),
            (&[b'a'; 1_000_000], "dc25bfbc"),
        ],
    );
}

/// RFC 3720, appendix B.4, which prints the bytes in reverse order; and the check value of CRC-32C.
#[test]
fn crc32c() {
    let ascending: Vec<u8> = (0..32).collect();
    let descending: Vec<u8> = (0..32).rev().collect();
    let read = [
        &[0x01, 0xc0, 0x00, 0x00][..],
        &[0; 12],
        &[0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0],
        &[0x02, 0, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    check(
        Algorithm::Crc32c,
        &[
            (b"", "00000000"),
            (b"123456789", "e3069283"),
            (&[0; 32], "8a9136aa"),
            (&[0xff; 32], "62a8ab43"),
            (&ascending, "46dd794e"),
            (&descending, "113fdb5c"),
            (&read, "d9963a56"),
        ],
    );
}

/// Output of Python's hashlib, for lengths at which the padding needs another block.
#[test]
fn sha224_around_padding() {
    check_pattern(
        Algorithm::Sha224,
        &[
            (55, "8991dfba74284e04dc7581c7c3e4068ff6cb7a63733361429834bb56"),
            (56, "2b2cd637c16ad7290bb067ad7d8fd04e204fa43a84366afc7130f4ef"),
            (63, "049e8dd7eab3378ce9f823bfb569e5b270235d4b7f9623606971998f"),
            (64, "c37b88a3522dbf7ac30d1c68ea397ac11d4773571aed01ddab73531e"),
            (65, "114b5fd665736a96585c5d5837d35250aed73c725252cbf7f8b121f6"),
            (111, "1aeef583c448a9ae00fbc931b50bc0da5bb8323e616b11076cee8b44"),
            (112, "01e5abf50619b5c2078e754eddedcf4de8d31185a2219313cb91a8c9"),
            (127, "554c9c3f7e92b80f4121e00cc147535d377eaeb4fb1fa8e25c7f81c1"),
            (128, "67d88da33fd632d8742424791dface672ff59d597fe38b3f2a998386"),
            (129, "a80cb91e08a62f062bd17db00d0e1979d041edeb52b497b205266b9c"),
            (102400, "aac848360c49755efb11547e980f6b1ddff196e6f65262066370344a"),
        ],
    );
}

/// Output of Python's hashlib, for lengths at which the padding needs another block.
#[test]
fn sha384_around_padding() {
    check_pattern(
        Algorithm::Sha384,
        &[
            (
                55,
                "dcedb6b590edb4efa849c801e6b6490657a5c1e64f69269f5f63c9267f6223de24cea7aaa6b267d9bcecc15147b6c875",
            ),
            (
                56,
                "7b9132d597b8873ad55bbc30f18ed3f2c9f340e7de69fb5774056c71a06d9bc2b14137e9e1c68b6b645fed28b188249d",
            ),
            (
                63,
                "dd66b519f51a925814407a449c60b34c553d7652d41783ee903a810a4c9f833b8181c91c7f12283eacd6a5f8a2639ddf",
            ),
            (
                64,
                "9f2c9eb7116b3d7a4ba84a74a4d4eff8a5efcf54b6d7b662693c38577914c73a214766f0a175339bb0895a863824fc0a",
            ),
            (
                65,
                "14b0a9ffce149426bf5045ffc24c057451d2473186deb4f150117b855911a7641651fb1e15df406eb373d71151c46f25",
            ),
            (
                111,
                "f5f9fe110d809d34029de262a01b208356caec6e054c7f926b2591f6c9780579d4b59f5578c6f531a84f158a33660cef",
            ),
            (
                112,
                "33ba080ec0ccb378e4e95fed3b26c23aa1a280476e007519ee47f60cd9c5c8a65d627259a9aa2fd33ca06d3c14ee5548",
            ),
            (
                127,
                "d5fcfe2fcf6b3ef375ede37c8123d9b78065fecc1d55197e2f7721e6e9a93d0ba4d7fd15f9b96dea2744df24141ba2ef",
            ),
            (
                128,
                "ca2385773319124534111a36d0581fc3f00815e907034b90cff9c3a861e126a741d5dfcff65a417b6d7296863ac0ec17",
            ),
            (
                129,
                "ef49ae5b9ad51433d00323528d81ea8d2e4d2b507dbd9f1cb84f952b66249a788b1c89fcdb77a0db9f1feb901d47fc73",
            ),
            (
                102400,
                "2c63ef39f81d19e88281bd6e79f7e0e96f5e79dda4ddea49d9f552442c47820a9faadf38643e329fd9861a727b461543",
            ),
        ],
    );
}

/// Output of Python's hashlib, for lengths around a block.
#[test]
fn sha3_256_around_blocks() {
    check_pattern(
        Algorithm::Sha3_256,
        &[
            (135, "fded8fd9d6551c601eeb3b7c6bc5e5cfd8aad1d015b7e9aaa9c9b9475231d5e2"),
            (136, "cf3ccff92480a29160c2d38317c430e14749bfee1788106957dfe73f8c4930e5"),
            (137, "ce9d7dc90913ee5d92745019479a5352c6d6279bef18ed07dc0a83ee8084daca"),
            (271, "0153fcdb6825d836b10835ccb3999dc1d8b68492f77e7e38afa31f8e244bd7af"),
            (272, "b7ccd55b6c2c3fa144c9e0624059294975a348b02f321abe289701d3012f7794"),
            (273, "4827800416bd25b01f53360454943ef688112eaee40422929a59af596a2c0be7"),
            (102400, "14f61e0b532a9566801359c3238ccfc25b66b2c64815393498ffc1f60fc731e6"),
        ],
    );
}

/// Output of Python's hashlib, for lengths around a block.
#[test]
fn sha3_512_around_blocks() {
    check_pattern(
        Algorithm::Sha3_512,
        &[
            (
                71,
                "3ccc850d53a1287af7b4560b2ef0d43eb5d9a80d62a0e9cf1dbc040135921104d4395168e90bfc871773ebb34bca1bd67056e1cc7dc7a48ff7c3167d389f117c",
            ),
            (
                72,
                "5d63f2bbe971a983ac6847480106e4e1264ee3a0befd79954914e1d86e795b2e18238f12fc5e46cb9cc78efdec610a93647cc04e1c23d8caaa6a58c21dd26c07",
            ),
            (
                73,
                "921d9b7b2b0f3066a1646dbb058c979cb3925dec0f8c269faaa7f9648e73465ae55ec527257d5d5e1cfdbf5d6799bea1004b6186f5108c74e3b92fe924166558",
            ),
            (
                143,
                "eb9748309c6b70ffe82820052ad26ea99f43968d2af359adc804b2a76741a62ea8d710f018ea113c2259d0bd6687e3838602ae6c1dff727ae985f059141c7217",
            ),
            (
                144,
                "e1951b8bcb58ca75a34af80a7a2b765cad4257fe383a79b55bf21f180b75f6e5b08f09598851eeea7d13486387618d6c6bf88cf23c0088a3f783f59a06d60493",
            ),
            (
                145,
                "1abec62dce93a6775cd2ec0098d7264676a21e644c7c1b80580c305cfde31b7d5848c63af4d0e7cfeda2e5076a32dbd632665fbb1e7f06651b2ed4d7341ac844",
            ),
            (
                102400,
                "6b34fe8ac80287611f4eec1802c19d5432a1a1ddd067c1288825577b3bd52ef404451d50f52c863a148bbac86172288ae6155f03ae1f0a9dc09aa13179dd1c79",
            ),
        ],
    );
}

/// Output of zlib, for lengths around the steps of vectors.
#[test]
fn crc32_around_blocks() {
    check_pattern(
        Algorithm::Crc32,
        &[
            (1, "d202ef8d"),
            (15, "a06c675e"),
            (16, "cecee288"),
            (63, "dbdea683"),
            (64, "100ece8c"),
            (127, "dec481aa"),
            (128, "24650d57"),
            (255, "6f7c9956"),
            (256, "5708a3cc"),
            (1024, "7be4dfd0"),
            (102400, "5cc1ce13"),
        ],
    );
}

/// NVM Express NVM Command Set Specification 1.0d, section 5.2.1.3.5 (figure 122), and the check value of the catalogue.
#[test]
fn crc64nvme() {
    let ascending: Vec<u8> = (0..4096).map(|n| n as u8).collect();
    let descending: Vec<u8> = ascending.iter().rev().copied().collect();
    check(
        Algorithm::Crc64Nvme,
        &[
            (b"", "0000000000000000"),
            (b"123456789", "ae8b14860a799888"),
            (&[0; 4096], "6482d367eb22b64e"),
            (&[0xff; 4096], "c0ddba7302eca3ac"),
            (&ascending, "3e729f5f6750449c"),
            (&descending, "9a2df64b8e9e517e"),
        ],
    );
}

/// Output of a table of bytes, for lengths around the steps of vectors.
#[test]
fn crc32c_around_blocks() {
    check_pattern(
        Algorithm::Crc32c,
        &[
            (1, "527d5351"),
            (7, "a359ed4c"),
            (8, "8a2cbc3b"),
            (15, "68ef03f6"),
            (16, "d9c908eb"),
            (63, "7a873004"),
            (64, "fb6d36eb"),
            (255, "ebbd63b3"),
            (256, "3449f810"),
            (1024, "2af62c0c"),
            (102400, "7957da17"),
        ],
    );
}
