// SPDX-License-Identifier: Apache-2.0
#include "kube/resource.h"

#include "gtest/gtest.h"

namespace reclaim::kube {
namespace {

TEST(ResourceTest, BuildsThePathsOfTheApi) {
  const GroupVersionResource policies{"kswapd.dev", "v1alpha1", "reclaimpolicies", false};
  EXPECT_EQ(ResourcePath(Nodes(), ""), "/api/v1/nodes");
  EXPECT_EQ(ResourcePath(Nodes(), "", "n1", "status"), "/api/v1/nodes/n1/status");
  EXPECT_EQ(ResourcePath(ConfigMaps(), ""), "/api/v1/configmaps");
  EXPECT_EQ(ResourcePath(ConfigMaps(), "ns", "cm"), "/api/v1/namespaces/ns/configmaps/cm");
  EXPECT_EQ(ResourcePath(policies, "ignored", "p"), "/apis/kswapd.dev/v1alpha1/reclaimpolicies/p");
}

TEST(ResourceTest, ANameCannotLeaveItsPlace) {
  EXPECT_EQ(ResourcePath(Nodes(), "", "../secrets?x=1#"), "/api/v1/nodes/..%2Fsecrets%3Fx%3D1%23");
  EXPECT_EQ(EscapeUrl("a b+c/\r\n\xc3\xa9~"), "a%20b%2Bc%2F%0D%0A%C3%A9~");
}

}  // namespace
}  // namespace reclaim::kube
