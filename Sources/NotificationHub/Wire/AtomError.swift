// SPDX-License-Identifier: Apache-2.0
import XML

/// Why a document of the hub's language was not understood. It never repeats the document.
package enum AtomError: Error, Equatable, Sendable {
    /// Not XML, or more XML than a description has, or with a document type.
    case notXML
    /// The root is not what was asked for, or a part of the envelope is missing.
    case unexpectedElement
    /// A registration of a type that is not known here.
    case unknownType
    case repeatedElement
    case badRegistrationID
    case badHandle(HandleError)
    /// A request brings a tag that no client may set.
    case badTag
    /// More text in `Tags` than `RegistrationDescription.maximumTagsLength`.
    case tooManyTags
    case missingTemplate
    case badHeader
    /// A request says when it expires; the hub alone does.
    case expirationGiven
    /// A count is not a number.
    case badNumber

    /// Reads a document, or throws that it is not one.
    static func root(of bytes: [UInt8]) throws(AtomError) -> XMLElement {
        do throws(XMLError) {
            return try XMLDocument.parse(bytes)
        } catch {
            throw .notXML
        }
    }
}
