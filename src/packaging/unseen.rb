# For Homebrew on Linux; make release fills in the version and the checksum. Checked so far:
# ruby -c. Not checked: brew audit, brew install, brew test.
class Unseen < Formula
  desc "Deduplicate lines, within a run or across runs"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/unseen-@VERSION@.tar.xz"
  sha256 "@SHA256@"
  license "BSD-2-Clause"

  depends_on "xxhash" => :build
  depends_on :linux

  def install
    system "make", "prefix=#{prefix}", "install"
  end

  test do
    assert_equal "one\ntwo\n", pipe_output(bin/"unseen", "one\ntwo\none\n", 0)
  end
end
