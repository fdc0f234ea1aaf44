//! docs/openapi.json describes the routes that the server has.

#[test]
fn the_description_is_up_to_date() {
    let committed = include_str!("../../../../../docs/openapi.json");
    let written = xtask::openapi::page().unwrap();
    assert!(committed == written, "run `cargo xtask openapi` and commit docs/openapi.json");
}
