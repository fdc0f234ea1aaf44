//! Packs the built-in vocabulary, gives table and tokenizer the number they are known by, and puts the packed model into the program
//! where it was fetched, which a release build does itself.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[path = "src/pack.rs"]
mod pack;
#[path = "src/packing.rs"]
mod packing;

/// Counts up when the same text begins to give other tokens, or to be kept as another vector.
const VERSION: u64 = 2;

#[expect(clippy::disallowed_methods, reason = "our own files, at build time")]
fn main() -> Result<(), Box<dyn Error>> {
    let (vocabulary, table) = ("table/vocab.txt", "table/static-256-i4.bin");
    for file in [vocabulary, table, "src/packing.rs", "src/pack.rs", "build.rs"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let lines = fs::read_to_string(vocabulary)?;
    let packed = packing::pack(&lines).ok_or("the vocabulary is too large")?;
    let out = std::env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("vocabulary.bin"), packed)?;

    embed_model(Path::new(&out))?;

    let mut hasher = xxhash_rust::xxh3::Xxh3::with_seed(VERSION);
    hasher.update(&fs::read(table)?);
    hasher.update(lines.as_bytes());
    println!("cargo::rustc-env=EMBEDDING_TABLE_HASH={}", hasher.digest());
    Ok(())
}

/// Fetches the weights for a release build that has none: who installs from source should find as much as who installs a
/// package. A build for work on the program takes what is there, and one without a network is made without them.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo says in variables what is built, and people what they wish"
)]
fn fetch_model(weights: &Path) {
    println!("cargo::rerun-if-env-changed=BACKSTORY_BUILD_MODEL");
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let is_refused = std::env::var("BACKSTORY_BUILD_MODEL").is_ok_and(|wish| wish == "off");
    if weights.exists() || !is_release || is_refused {
        return;
    }
    let status = Command::new("bash").arg("../../../scripts/model").stdout(Stdio::null()).status();
    if !status.is_ok_and(|status| status.success()) {
        println!(
            "cargo::warning=the weights of the small model could not be fetched, so this program finds less in other words; \
             run scripts/model to see why, then build again"
        );
    }
}

/// Packs the weights of all-MiniLM-L6-v2, where they were fetched.
#[expect(clippy::disallowed_methods, reason = "our own files, at build time")]
fn embed_model(out: &Path) -> Result<(), Box<dyn Error>> {
    // The folder, since the file may not be there yet.
    println!("cargo::rerun-if-changed=model");
    println!("cargo::rustc-check-cfg=cfg(has_packed_model)");
    let weights = Path::new("model/model.safetensors");
    fetch_model(weights);
    if weights.exists() {
        fs::write(out.join("model.safetensors"), pack::pack_model(&fs::read(weights)?)?)?;
        println!("cargo::rustc-cfg=has_packed_model");
    }
    Ok(())
}
