// SPDX-License-Identifier: Apache-2.0
module example

go 1.18
