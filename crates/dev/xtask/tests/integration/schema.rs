//! docs/schema.json holds the schemas that the types have.

#[test]
fn the_page_of_schemas_is_up_to_date() {
    let committed = include_str!("../../../../../docs/schema.json");
    let written = xtask::schema::page().unwrap();
    assert!(committed == written, "run `cargo xtask schema` and commit docs/schema.json");
}
