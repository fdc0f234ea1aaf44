//! docs/configuration.md lists every setting as `defaults.toml` has it.

#[test]
fn the_page_of_settings_is_up_to_date() {
    let (committed, written) = xtask::settings::page().unwrap();
    assert!(committed == written, "run `cargo xtask settings` and commit docs/configuration.md");
}
