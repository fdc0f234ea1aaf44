//! Words that join others and say nothing by themselves. They are searched for, since a person may quote them, but that no
//! session has one of them is no news.

/// In small letters, one after another.
const FUNCTION_WORDS: &str = "\
about above across after again against all almost along already also although always am among \
another any anybody anyone anything around away back because been before behind being below beneath \
beside besides between beyond both but can cannot could did doesn't doing don't done down during \
each either else enough even ever every everybody everyone everything except few had having he hence \
her here hers herself him himself his however itself just last least less like many may maybe me \
might mine more moreover most much must my myself nearly neither never nevertheless no nobody none \
nor nothing now off often once one only onto other others otherwise ought our ours out over own \
perhaps quite rather really recently same several shall she should since so some somebody someone \
something sometimes somewhere soon still such than them themselves therefore they thing things those \
though through throughout thus till together too toward towards under unless until up upon us very \
via well whatever whenever where whereas wherever whether which whichever while who whoever whom \
whose why within without would yet yours yourself";

/// Whether a word in small letters only joins others.
pub(crate) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_join_others() {
        assert!(["although", "about", "yourself", "before"].into_iter().all(is_function_word));
        assert!(
            ["", "alt", "walrus", "die", "although about"].into_iter().all(|word| !is_function_word(word))
        );
    }
}
