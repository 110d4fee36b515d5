// SPDX-License-Identifier: Apache-2.0
#include "operator/pki/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/openssl_ptr.h"

namespace reclaim::op {
namespace {

using NumberPtr = OpensslPtr<BIGNUM, BN_free>;
using TimePtr = OpensslPtr<ASN1_TIME, ASN1_TIME_free>;
using StorePtr = OpensslPtr<X509_STORE, X509_STORE_free>;
using StoreContextPtr = OpensslPtr<X509_STORE_CTX, X509_STORE_CTX_free>;

// What OpenSSL complains about on this thread; empties its queue.
absl::Status OpenSslError(absl::string_view what) {
  std::string reasons;
  while (const unsigned long code = ERR_get_error()) {
    char text[256];
    ERR_error_string_n(code, text, sizeof(text));
    absl::StrAppend(&reasons, reasons.empty() ? "" : "; ", text);
  }
  return absl::InternalError(absl::StrCat(what, ": ", reasons));
}

absl::StatusOr<X509Ptr> ParseCertificate(absl::string_view pem) {
  BioPtr bio = ReadBio(pem);
  X509Ptr certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(OpenSslError("not a PEM certificate").message());
  }
  return certificate;
}

absl::StatusOr<EvpKeyPtr> ParseKey(absl::string_view pem) {
  BioPtr bio = ReadBio(pem);
  EvpKeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (key == nullptr) {
    return absl::InvalidArgumentError(OpenSslError("not a PEM private key").message());
  }
  return key;
}

absl::StatusOr<KeyPair> ToPem(X509* certificate, EVP_PKEY* key) {
  const BioPtr certificate_bio = WriteBio();
  const BioPtr key_bio = WriteBio();
  if (PEM_write_bio_X509(certificate_bio.get(), certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return OpenSslError("cannot write PEM");
  }
  return KeyPair{TextOf(certificate_bio.get()), TextOf(key_bio.get())};
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// A certificate with a new key, without extensions and signature.
absl::StatusOr<std::pair<X509Ptr, EvpKeyPtr>> NewUnsigned(absl::string_view common_name,
                                                          absl::Time now, absl::Duration lifetime) {
  EvpKeyPtr key(EVP_EC_gen("P-256"));
  X509Ptr certificate(X509_new());
  NumberPtr serial(BN_new());
  if (key == nullptr || certificate == nullptr || serial == nullptr) {
    return OpenSslError("cannot make a key");
  }
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const bool ok =
      X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
      BN_rand(serial.get(), 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
      BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(certificate.get())) != nullptr &&
      ASN1_TIME_set(X509_getm_notBefore(certificate.get()), absl::ToTimeT(now - kClockSkew)) !=
          nullptr &&
      ASN1_TIME_set(X509_getm_notAfter(certificate.get()), absl::ToTimeT(now + lifetime)) !=
          nullptr &&
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(common_name.data()),
                                 static_cast<int>(common_name.size()), -1, 0) == 1 &&
      X509_set_pubkey(certificate.get(), key.get()) == 1;
  if (!ok) return OpenSslError("cannot make a certificate");
  return std::make_pair(std::move(certificate), std::move(key));
}

absl::StatusOr<absl::Time> ToTime(const ASN1_TIME* time) {
  tm fields;
  if (ASN1_TIME_to_tm(time, &fields) != 1) return OpenSslError("cannot read a certificate's time");
  return absl::FromUnixSeconds(timegm(&fields));
}

}  // namespace

absl::StatusOr<KeyPair> NewAuthority(absl::string_view common_name, absl::Time now,
                                     absl::Duration lifetime) {
  auto made = NewUnsigned(common_name, now, lifetime);
  if (!made.ok()) return made.status();
  auto& [certificate, key] = *made;
  X509* c = certificate.get();
  const bool ok = X509_set_issuer_name(c, X509_get_subject_name(c)) == 1 &&
                  AddExtension(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                  AddExtension(c, c, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                  AddExtension(c, c, NID_subject_key_identifier, "hash") &&
                  X509_sign(c, key.get(), EVP_sha256()) > 0;
  if (!ok) return OpenSslError("cannot sign the authority's certificate");
  return ToPem(c, key.get());
}

absl::StatusOr<KeyPair> IssueServerCertificate(const KeyPair& authority,
                                               const std::vector<std::string>& dns_names,
                                               absl::Time now, absl::Duration lifetime) {
  if (dns_names.empty()) return absl::InvalidArgumentError("a server certificate needs a name");
  auto issuer = ParseCertificate(authority.certificate_pem);
  if (!issuer.ok()) return issuer.status();
  auto issuer_key = ParseKey(authority.key_pem);
  if (!issuer_key.ok()) return issuer_key.status();
  // A common name has at most 64 characters; clients look at the alternative names.
  auto made = NewUnsigned("reclaim-operator", now, lifetime);
  if (!made.ok()) return made.status();
  auto& [certificate, key] = *made;
  X509* c = certificate.get();
  const std::string names = absl::StrJoin(
      dns_names, ",",
      [](std::string* out, const std::string& name) { absl::StrAppend(out, "DNS:", name); });
  const bool ok = X509_set_issuer_name(c, X509_get_subject_name(issuer->get())) == 1 &&
                  AddExtension(c, issuer->get(), NID_basic_constraints, "critical,CA:FALSE") &&
                  AddExtension(c, issuer->get(), NID_key_usage, "critical,digitalSignature") &&
                  AddExtension(c, issuer->get(), NID_ext_key_usage, "serverAuth") &&
                  AddExtension(c, issuer->get(), NID_subject_key_identifier, "hash") &&
                  AddExtension(c, issuer->get(), NID_authority_key_identifier, "keyid:always") &&
                  AddExtension(c, issuer->get(), NID_subject_alt_name, names) &&
                  X509_sign(c, issuer_key->get(), EVP_sha256()) > 0;
  if (!ok) return OpenSslError("cannot sign the server's certificate");
  return ToPem(c, key.get());
}

absl::StatusOr<Validity> ValidityOf(absl::string_view pem) {
  auto certificate = ParseCertificate(pem);
  if (!certificate.ok()) return certificate.status();
  auto not_before = ToTime(X509_get0_notBefore(certificate->get()));
  if (!not_before.ok()) return not_before.status();
  auto not_after = ToTime(X509_get0_notAfter(certificate->get()));
  if (!not_after.ok()) return not_after.status();
  return Validity{*not_before, *not_after};
}

absl::Status CheckKeyPair(const KeyPair& pair) {
  auto certificate = ParseCertificate(pair.certificate_pem);
  if (!certificate.ok()) return certificate.status();
  auto key = ParseKey(pair.key_pem);
  if (!key.ok()) return key.status();
  if (X509_check_private_key(certificate->get(), key->get()) != 1) {
    return absl::InvalidArgumentError(
        OpenSslError("the key does not belong to the certificate").message());
  }
  return absl::OkStatus();
}

absl::Status VerifyServerCertificate(absl::string_view certificate_pem,
                                     absl::string_view bundle_pem, const std::string& host,
                                     absl::Time now) {
  auto certificate = ParseCertificate(certificate_pem);
  if (!certificate.ok()) return certificate.status();
  StorePtr store(X509_STORE_new());
  for (const std::string& pem : SplitBundle(bundle_pem)) {
    auto authority = ParseCertificate(pem);
    if (!authority.ok()) return authority.status();
    X509_STORE_add_cert(store.get(), authority->get());
  }
  StoreContextPtr context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), store.get(), certificate->get(), nullptr) != 1) {
    return OpenSslError("cannot verify");
  }
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(parameters, absl::ToTimeT(now));
  X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER);
  X509_VERIFY_PARAM_set1_host(parameters, host.data(), host.size());
  if (X509_verify_cert(context.get()) != 1) {
    return absl::InvalidArgumentError(
        X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get())));
  }
  return absl::OkStatus();
}

std::vector<std::string> SplitBundle(absl::string_view bundle_pem) {
  constexpr absl::string_view kBegin = "-----BEGIN CERTIFICATE-----";
  constexpr absl::string_view kEnd = "-----END CERTIFICATE-----\n";
  std::vector<std::string> certificates;
  while (true) {
    const size_t begin = bundle_pem.find(kBegin);
    if (begin == absl::string_view::npos) return certificates;
    bundle_pem.remove_prefix(begin);
    const size_t end = bundle_pem.find(kEnd);
    if (end == absl::string_view::npos) return certificates;
    certificates.emplace_back(bundle_pem.substr(0, end + kEnd.size()));
    bundle_pem.remove_prefix(end + kEnd.size());
  }
}

}  // namespace reclaim::op
