//! How two texts differ, line by line, with what stands around it.

/// How many lines that are the same are shown around a difference.
const AROUND: usize = 2;
/// Texts of more lines, multiplied, are shown as one replaced by the other.
const LARGEST: usize = 4_000_000;

/// The lines of both texts: ` ` in both, `-` only in the first, `+` only in the second; `…` for what is left out.
pub(crate) fn diff(before: &str, after: &str) -> Vec<(char, String)> {
    let (one, other): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let all = if one.len().saturating_mul(other.len()) > LARGEST {
        replaced(&one, &other)
    } else {
        whole(&one, &other)
    };
    let near = |at: usize| {
        let from = at.saturating_sub(AROUND);
        all.iter().skip(from).take(at + AROUND + 1 - from).any(|(mark, _)| *mark != ' ')
    };
    let mut shown: Vec<(char, String)> = Vec::new();
    for (at, (mark, line)) in all.iter().enumerate() {
        if near(at) {
            shown.push((*mark, (*line).to_owned()));
        } else if shown.last().is_none_or(|(mark, _)| *mark != '…') {
            shown.push(('…', String::new()));
        }
    }
    shown
}

fn replaced<'a>(one: &[&'a str], other: &[&'a str]) -> Vec<(char, &'a str)> {
    let old = one.iter().map(|line| ('-', *line));
    old.chain(other.iter().map(|line| ('+', *line))).collect()
}

/// By the longest common subsequence: settings files are short.
fn whole<'a>(one: &[&'a str], other: &[&'a str]) -> Vec<(char, &'a str)> {
    let width = other.len() + 1;
    let mut common = vec![0_usize; (one.len() + 1) * width];
    for (i, a) in one.iter().enumerate().rev() {
        for (j, b) in other.iter().enumerate().rev() {
            common[i * width + j] = if a == b {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < one.len() || j < other.len() {
        if i < one.len() && j < other.len() && one[i] == other[j] {
            all.push((' ', one[i]));
            (i, j) = (i + 1, j + 1);
        } else if j < other.len()
            && (i == one.len() || common[i * width + j + 1] >= common[(i + 1) * width + j])
        {
            all.push(('+', other[j]));
            j += 1;
        } else {
            all.push(('-', one[i]));
            i += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &[&str]) {
        let found: Vec<String> =
            diff(before, after).into_iter().map(|(mark, line)| format!("{mark}{line}")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_new_what_is_gone_and_what_is_around_it() {
        check("", "a\nb", &["+a", "+b"]);
        check("a\nb\nc\nd\ne", "a\nb\nc\nX\ne", &["…", " b", " c", "+X", "-d", " e"]);
        check("a\nb", "a\nb", &["…"]);
    }
}
