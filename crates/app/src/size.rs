//! Sizes as people read them.

/// A size in decimal units: `3.4 MB`.
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut amount = number as f64;
    let mut unit = 0;
    while amount >= 1000.0 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{number} B") } else { format!("{amount:.1} {}", UNITS[unit]) }
}
