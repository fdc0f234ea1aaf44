//! Has the crate built again when the dashboard was.

fn main() {
    println!("cargo::rerun-if-changed=../../../web/dist");
}
