//! The size of this process's pages of memory, where the system lets a process choose (Linux).

/// Asks for large pages or for small ones.
///
/// Who lists thousands of sessions takes their memory quicker in large ones; who reads much, or stays, would hold more
/// of it than it uses. A process hands its choice on to what it starts: every start of this program makes its own, and a
/// `claude` that it becomes has the system's.
pub(crate) fn prefer_large(wanted: bool) {
    // Where it cannot be chosen nothing but time or memory is lost.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::disable_transparent_huge_pages(!wanted);
    #[cfg(not(target_os = "linux"))]
    let _ = wanted;
}
