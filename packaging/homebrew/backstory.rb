# scripts/pack fills in the version, the archives and their digests.
class Backstory < Formula
  desc "Find, understand and continue every Claude Code session you ever had"
  homepage "https://github.com/backstory-sessions/backstory"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@ARCHIVES@

  def install
    bin.install "bin/backstory"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/backstory"
    zsh_completion.install "share/zsh/site-functions/_backstory"
    fish_completion.install "share/fish/vendor_completions.d/backstory.fish"
    doc.install Dir["share/doc/backstory/*"]
  end

  test do
    assert_match "token refresh", shell_output("#{bin}/backstory search --demo 'token refresh'")
  end
end
