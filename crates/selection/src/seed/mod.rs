//! The seed's rule: five factors with fixed weights, and the reasons in words.

pub(crate) mod factors;
pub(crate) mod reason;
mod relevance;
mod weights;

pub use factors::{Factors, factors};
pub use relevance::{
    ASKED, Grounds, Judge, Judged, Relevance, about, keyword, prompt, understood, worth_asking,
};
pub use weights::Weights;
