// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/certificate.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "operator/pki/authority_bundle.h"

namespace reclaim::op {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'790'000'000);
const std::vector<std::string> kNames = {"reclaim-operator.ns.svc",
                                         "reclaim-operator.ns.svc.cluster.local"};

class CertificateTest : public testing::Test {
 protected:
  KeyPair authority_ = *NewAuthority("ca", kNow, absl::Hours(1000));
  KeyPair leaf_ = *IssueServerCertificate(authority_, kNames, kNow, absl::Hours(90));

  absl::Status Verify(const std::string& host, absl::Time at) {
    return VerifyServerCertificate(leaf_.certificate_pem, authority_.certificate_pem, host, at);
  }
};

TEST_F(CertificateTest, ALeafIsGoodForItsNamesWhileItLives) {
  for (const std::string& name : kNames) EXPECT_TRUE(Verify(name, kNow).ok()) << name;
  EXPECT_TRUE(Verify(kNames[0], kNow - absl::Minutes(4)).ok());
  EXPECT_TRUE(Verify(kNames[0], kNow + absl::Hours(89)).ok());
  EXPECT_FALSE(Verify(kNames[0], kNow - absl::Minutes(6)).ok());
  EXPECT_FALSE(Verify(kNames[0], kNow + absl::Hours(91)).ok());
  EXPECT_FALSE(Verify("reclaim-operator.other.svc", kNow).ok());
}

TEST_F(CertificateTest, AnotherAuthorityDoesNotVouchForIt) {
  const KeyPair other = *NewAuthority("ca", kNow, absl::Hours(1000));
  EXPECT_FALSE(
      VerifyServerCertificate(leaf_.certificate_pem, other.certificate_pem, kNames[0], kNow).ok());
  EXPECT_TRUE(VerifyServerCertificate(leaf_.certificate_pem,
                                      other.certificate_pem + authority_.certificate_pem, kNames[0],
                                      kNow)
                  .ok());
}

TEST_F(CertificateTest, TheAuthorityIsNoServer) {
  EXPECT_FALSE(VerifyServerCertificate(authority_.certificate_pem, authority_.certificate_pem,
                                       kNames[0], kNow)
                   .ok());
}

TEST_F(CertificateTest, ReadsItsOwnTimes) {
  const auto validity = ValidityOf(leaf_.certificate_pem);
  ASSERT_TRUE(validity.ok());
  EXPECT_EQ(validity->not_before, kNow - kClockSkew);
  EXPECT_EQ(validity->not_after, kNow + absl::Hours(90));
  EXPECT_NEAR(absl::ToDoubleHours(validity->RenewAt() - kNow), 60, 0.1);
  EXPECT_FALSE(ValidityOf("no certificate").ok());
}

TEST_F(CertificateTest, KnowsWhichKeyBelongsToIt) {
  EXPECT_TRUE(CheckKeyPair(leaf_).ok());
  EXPECT_FALSE(CheckKeyPair({leaf_.certificate_pem, authority_.key_pem}).ok());
  EXPECT_FALSE(CheckKeyPair({leaf_.certificate_pem, "garbage"}).ok());
  EXPECT_FALSE(CheckKeyPair({"", leaf_.key_pem}).ok());
}

TEST_F(CertificateTest, NeedsANameAndASigner) {
  EXPECT_FALSE(IssueServerCertificate(authority_, {}, kNow, absl::Hours(1)).ok());
  EXPECT_FALSE(IssueServerCertificate({"", ""}, kNames, kNow, absl::Hours(1)).ok());
}

TEST(SplitBundle, LeavesOutWhatIsNoCertificate) {
  const KeyPair a = *NewAuthority("a", kNow, absl::Hours(1));
  const KeyPair b = *NewAuthority("b", kNow, absl::Hours(1));
  const auto split =
      SplitBundle(absl::StrCat("# first\n", a.certificate_pem, a.key_pem, b.certificate_pem,
                               "-----BEGIN CERTIFICATE-----\ncut off"));
  ASSERT_EQ(split.size(), 2u);
  EXPECT_EQ(split[0], a.certificate_pem);
  EXPECT_EQ(split[1], b.certificate_pem);
  EXPECT_TRUE(SplitBundle("").empty());
}

TEST(NextAuthorityBundle, MakesOneAndKeepsIt) {
  const auto first = NextAuthorityBundle(nullptr, kNow);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->changed);
  EXPECT_TRUE(CheckKeyPair(first->authority.signer).ok());
  const auto again = NextAuthorityBundle(&first->authority, kNow + absl::Hours(24 * 365 * 6));
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->authority.bundle_pem, first->authority.bundle_pem);
}

TEST(NextAuthorityBundle, RenewsAtTwoThirdsAndStillVouchesForTheOldOne) {
  const auto first = NextAuthorityBundle(nullptr, kNow);
  const absl::Time later = kNow + absl::Hours(24 * 365 * 7);
  const auto renewed = NextAuthorityBundle(&first->authority, later);
  ASSERT_TRUE(renewed.ok());
  EXPECT_TRUE(renewed->changed);
  EXPECT_EQ(SplitBundle(renewed->authority.bundle_pem).size(), 2u);
  for (const KeyPair& signer : {first->authority.signer, renewed->authority.signer}) {
    const auto leaf = IssueServerCertificate(signer, kNames, later, absl::Hours(1));
    EXPECT_TRUE(VerifyServerCertificate(leaf->certificate_pem, renewed->authority.bundle_pem,
                                        kNames[0], later)
                    .ok());
  }
  // Once it has ended it leaves the bundle at the next renewal.
  const auto third = NextAuthorityBundle(&renewed->authority, later + absl::Hours(24 * 365 * 7));
  EXPECT_EQ(SplitBundle(third->authority.bundle_pem).size(), 2u);
  EXPECT_EQ(third->authority.bundle_pem.find(first->authority.signer.certificate_pem),
            std::string::npos);
}

TEST(NextAuthorityBundle, ReplacesWhatCannotSign) {
  const auto first = NextAuthorityBundle(nullptr, kNow);
  AuthorityBundle broken = first->authority;
  broken.signer.key_pem = "garbage";
  const auto next = NextAuthorityBundle(&broken, kNow);
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE(next->changed);
  EXPECT_TRUE(CheckKeyPair(next->authority.signer).ok());
  EXPECT_EQ(SplitBundle(next->authority.bundle_pem).size(), 2u);
  const AuthorityBundle empty;
  EXPECT_TRUE(NextAuthorityBundle(&empty, kNow)->changed);
}

}  // namespace
}  // namespace reclaim::op
